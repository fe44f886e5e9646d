import { connect, type Socket } from 'node:net'

const REQUEST = 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'

/**
 * Asks a server so often over connections that are kept, each with one request on its way at a time. The answers of the
 * servers that are compared come in one piece each, so that none has to be parsed.
 * @throws Error where an answer is not 200
 */
export async function ask(port: number, requests: number, connections: number): Promise<void> {
  let left = requests
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)))
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
  for (const socket of sockets) socket.destroy()
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.off('error', reject)))
    socket.setNoDelay(true)
    socket.once('error', reject)
  })
}
