import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { storeService } from 'tidegate/remote'
import type { Store } from 'tidegate/store'

export interface StartedStoreService {
  readonly url: string
  /** From now on this store is asked. */
  use(store: Store): void
  stop(): Promise<void>
}

/** The protocol of `remoteStore` on loopback, over any store of this process, with nothing else around it. */
export async function startStoreService(): Promise<StartedStoreService> {
  let service: ReturnType<typeof storeService> | undefined
  const server = createServer((request, response) => {
    void json(request)
      .then((body) => service?.answer(body))
      .then(
        (answer) => response.setHeader('content-type', 'application/json').end(JSON.stringify(answer)),
        (error: Error) => response.writeHead(400).end(JSON.stringify({ detail: error.message })),
      )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    use: (store) => {
      service = storeService(store)
    },
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
