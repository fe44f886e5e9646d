import { connect } from 'node:net'

/** Sends bytes over one connection, and resolves to all that comes back until the other side closes it. */
export function rawExchange(port: number, bytes: string | Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    let received = ''
    socket.setTimeout(10_000, () => {
      socket.destroy()
      reject(new Error(`not closed after: ${received}`))
    })
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
    })
    socket.on('error', (error) => (received === '' ? reject(error) : resolve(received)))
    socket.on('close', () => resolve(received))
  })
}
