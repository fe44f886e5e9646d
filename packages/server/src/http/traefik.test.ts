import { afterEach, expect, test } from 'vitest'
import { type ListeningService, listeningService } from '../testing/listening-service.ts'

let service: ListeningService | undefined
afterEach(() => service?.close())

/** What Traefik's forwardAuth sends, by its documentation: a GET without a body, whatever the client's method was. */
function asTraefik(uri: string, method: string, client: string): RequestInit {
  return {
    method: 'GET',
    headers: {
      'X-Forwarded-For': client,
      'X-Forwarded-Host': 'shop.example',
      'X-Forwarded-Method': method,
      'X-Forwarded-Port': '443',
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Server': 'traefik-7d9c',
      'X-Forwarded-Uri': uri,
      'X-Real-Ip': client,
    },
  }
}

test("the headers of Traefik: route, method, host and address are the client's", async () => {
  const match = { route: '/order', method: 'POST', host: 'shop.example' }
  service = await listeningService({
    rules: [{ name: 'order', match, key: ['ip'], limit: 1, window: '1m' }],
    trust: 'loopback',
  })
  const ask = (uri: string, method: string, client: string) =>
    fetch(`${service?.url}/auth`, asTraefik(uri, method, client))
  expect((await ask('/order?a=1', 'GET', '203.0.113.1')).headers.get('ratelimit')).toBe(null)
  const first = await ask('/order?a=1', 'POST', '203.0.113.1')
  expect([first.status, first.headers.get('ratelimit')]).toEqual([200, '"order";r=0;t=60'])
  const refused = await ask('/order', 'POST', '203.0.113.1')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
  expect(await refused.json()).toMatchObject({ title: 'Too many requests', 'violated-policies': ['order'] })
  expect((await ask('/order', 'POST', '203.0.113.2')).status).toBe(200)
})
