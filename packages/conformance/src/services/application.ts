import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What stands behind a gateway: it says hello, and counts. */
export interface Application {
  readonly port: number
  /** How many requests have come this far. */
  readonly requests: () => number
  stop(): Promise<void>
}

export async function startApplication(): Promise<Application> {
  let requests = 0
  const server = createServer((_request, response) => {
    requests++
    response.end('hello from the application\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { port, requests: () => requests, stop }
}
