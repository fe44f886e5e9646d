/** The status codes of gRPC that this service answers with (grpc/doc/statuscodes.md). */
export const STATUS = {
  OK: 0,
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
} as const

export type Status = (typeof STATUS)[keyof typeof STATUS]

/** How a call ends that has no answer. */
export class RpcError extends Error {
  readonly status: Status
  /** Trailers besides the status. */
  readonly metadata: Readonly<Record<string, string>>

  constructor(status: Status, message: string, metadata: Readonly<Record<string, string>> = {}) {
    super(message)
    this.name = 'RpcError'
    this.status = status
    this.metadata = metadata
  }
}

/** A message as it stands in `grpc-message`: UTF-8, with what is not printable ASCII, and percent signs, encoded. */
export function percentEncoded(message: string): string {
  if (/^[ -$&-~]*$/.test(message)) return message
  let text = ''
  for (const byte of Buffer.from(message)) {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25
    text += isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return text
}
