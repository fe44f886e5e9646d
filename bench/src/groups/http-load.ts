import { connect, type Socket } from 'node:net'

const GET = Buffer.from('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')

/** A request with a body of JSON. */
export function post(path: string, body: unknown): Buffer {
  const text = JSON.stringify(body)
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${text.length}`
  return Buffer.from(`${head}\r\n\r\n${text}`)
}

/**
 * Asks a server for so many seconds over connections that are kept, each with one request on its way at a time, going
 * round `messages`.
 * @returns how many requests were answered
 * @throws Error where an answer is not 200, or does not say how long it is
 */
export async function ask(
  port: number,
  seconds: number,
  connections: number,
  messages: readonly Buffer[] = [GET],
): Promise<number> {
  let asked = 0
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)))
  const until = performance.now() + seconds * 1000
  const askOn = (socket: Socket) =>
    new Promise<void>((resolve, reject) => {
      /** Bytes of the answer that are still to come. */
      let left = 0
      const next = () => {
        if (performance.now() > until) resolve()
        else socket.write(messages[asked++ % messages.length] as Buffer)
      }
      socket.on('data', (bytes) => {
        const length = left > 0 ? left : lengthOf(bytes)
        if (length === undefined) return reject(new Error(`answered ${bytes.toString('latin1')}`))
        left = length - bytes.length
        if (left === 0) next()
      })
      socket.once('error', reject)
      next()
    })
  await Promise.all(sockets.map(askOn))
  for (const socket of sockets) socket.destroy()
  return asked
}

/** Of an answer 200 with all of its head, in bytes; undefined where it is another. */
function lengthOf(answer: Buffer): number | undefined {
  const end = answer.indexOf('\r\n\r\n')
  const head = answer.toString('latin1', 0, end)
  const [, length] = /^content-length: *(\d+)/im.exec(head) ?? []
  if (end < 0 || length === undefined || !head.startsWith('HTTP/1.1 200')) return undefined
  return end + 4 + Number(length)
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.off('error', reject)))
    socket.setNoDelay(true)
    socket.once('error', reject)
  })
}
