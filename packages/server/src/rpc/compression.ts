import { promisify } from 'node:util'
import { gunzip, inflate, type ZlibOptions } from 'node:zlib'
import { type RawMessage, tooLong } from './messages.ts'
import { RpcError, STATUS } from './status.ts'

type Inflate = (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>

const ENCODINGS: ReadonlyMap<string, Inflate> = new Map<string, Inflate>([
  ['gzip', promisify<Buffer, ZlibOptions, Buffer>(gunzip)],
  ['deflate', promisify<Buffer, ZlibOptions, Buffer>(inflate)],
])

/** What a client can send; answers are never compressed. */
const ACCEPTED = ['identity', ...ENCODINGS.keys()].join(',')

/** @throws RpcError `UNIMPLEMENTED` with what can be read, for an encoding that cannot */
export function checkEncoding(encoding: string | undefined): void {
  if (encoding === undefined || encoding === 'identity' || ENCODINGS.has(encoding)) return
  const message = `grpc-encoding: expected one of ${ACCEPTED}`
  throw new RpcError(STATUS.UNIMPLEMENTED, message, { 'grpc-accept-encoding': ACCEPTED })
}

/**
 * The bytes of a message.
 * @param most the most bytes that it may have
 * @throws RpcError `RESOURCE_EXHAUSTED` for more, `INTERNAL` for what its encoding did not make
 */
export async function inflated({ bytes }: RawMessage, encoding: string | undefined, most: number): Promise<Buffer> {
  const inflateBytes = ENCODINGS.get(encoding ?? '')
  if (inflateBytes === undefined) {
    throw new RpcError(STATUS.INTERNAL, 'grpc-encoding: expected the encoding of a message that is compressed')
  }
  try {
    return await inflateBytes(bytes, { maxOutputLength: most })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLong('more', most)
    throw new RpcError(STATUS.INTERNAL, `message: expected what ${encoding} makes; ${(error as Error).message}`)
  }
}
