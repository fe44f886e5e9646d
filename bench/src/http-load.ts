import { connect, type Socket } from 'node:net'

const REQUEST = 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'

/**
 * Asks a server so often over connections that are kept, each with one request on its way at a time. The answers of the
 * servers that are compared come in one piece each, so that none has to be parsed.
 * @returns requests per second
 * @throws Error where an answer is not 200
 */
export async function requestsPerSecond(port: number, requests: number, connections: number): Promise<number> {
  let left = requests
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)))
  const start = performance.now()
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<void>((resolve, reject) => {
          const next = () => {
            if (left-- > 0) socket.write(REQUEST)
            else resolve()
          }
          socket.on('data', (answer) => {
            if (answer.toString('latin1', 0, 12) === 'HTTP/1.1 200') next()
            else reject(new Error(`answered ${answer.toString('latin1')}`))
          })
          socket.once('error', reject)
          next()
        }),
    ),
  )
  const elapsed = performance.now() - start
  for (const socket of sockets) socket.destroy()
  return (requests / elapsed) * 1000
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.off('error', reject)))
    socket.setNoDelay(true)
    socket.once('error', reject)
  })
}
