/** How many slots a Redis Cluster has. */
const SLOTS = 16384

const encoder = new TextEncoder()

/**
 * The slot of a cluster that a key lies in, 0 to 16,383: CRC16 of what stands between the first `{` and the next `}`,
 * or of the whole key where nothing does (https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/).
 */
export function hashSlot(key: string): number {
  return crc16(encoder.encode(hashTag(key))) % SLOTS
}

function hashTag(key: string): string {
  const start = key.indexOf('{') + 1
  const end = key.indexOf('}', start)
  return start > 0 && end > start ? key.slice(start, end) : key
}

/** CRC-16/XMODEM: polynomial 0x1021, starting from 0, most significant bit first. */
function crc16(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) crc = ((crc << 8) & 0xffff) ^ (TABLE[(crc >> 8) ^ byte] as number)
  return crc
}

const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
  return crc
})
