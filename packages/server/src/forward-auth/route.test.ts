import { expect, test } from 'vitest'
import { routeOf } from './route.ts'

// The kind of fault: a request that changes its spelling, and so is counted apart or matched by no rule.
test.each([
  '/order',
  '/order?a=1',
  '/order?',
  '/order#x',
  '//order',
  '///order',
  '/./order',
  '/x/../order',
  '/x//../order',
  '/../../order',
  '/%6Frder',
  '/%6frder',
  '/%2e/order',
  '/x/%2E%2e/order',
  '/x/%2e%2E%2forder',
  '\\order',
  '/x\\..\\order',
  'order',
  'http://example.com/order?a=1',
  'HTTPS://u:p@example.com:99//order',
  '//evil.example/../order',
])('%s is /order', (target) => {
  expect(routeOf(target)).toBe('/order')
})

const spelt: [target: string, route: string][] = [
  ['', '/'],
  ['/', '/'],
  ['?a', '/'],
  ['*', '*'],
  ['http://example.com', '/'],
  ['/order/', '/order/'],
  ['/Order', '/Order'],
  ['//evil.example/a', '/evil.example/a'],
  ['/a%2fb', '/a/b'],
  ['/a%2526b', '/a%2526b'],
  ['/a%3fb', '/a%3Fb'],
  ['/a%23b', '/a%23b'],
  ['/{id}', '/%7Bid%7D'],
  ['/%7bid%7d', '/%7Bid%7D'],
  ['/a b', '/a%20b'],
  ['/a\tb', '/a%09b'],
  ['/a%00b', '/a%00b'],
  ['/a%0ab', '/a%0Ab'],
  ['/a|b', '/a%7Cb'],
  ['/a%7cb', '/a%7Cb'],
  ['/a+b;c=d', '/a+b;c=d'],
  ['/a%2Bb%3bc%3Dd', '/a+b;c=d'],
  ['/%zz', '/%zz'],
  ['/%', '/%'],
  ['/%e4', '/%E4'],
  // A header holds a character for each byte: ä in UTF-8, raw and encoded.
  ['/\u00c3\u00a4', '/%C3%A4'],
  ['/%c3%a4', '/%C3%A4'],
  ['/a/..', '/'],
  ['/a/.', '/a/'],
  ['/a:b@c', '/a:b@c'],
]
test.each(spelt)('%j is %s', (target, route) => {
  expect(routeOf(target)).toBe(route)
  expect(routeOf(route)).toBe(route)
})

test('any bytes give a route that can be a key, once respelt for good', () => {
  let seed = 1
  const random = (below: number): number => {
    seed = (seed * 48271) % 2147483647
    return seed % below
  }
  for (let round = 0; round < 20_000; round++) {
    const target = String.fromCharCode(
      ...Array.from({ length: 1 + random(12) }, () =>
        random(3) > 0 ? '/.%2eE5c\\?#:'.charCodeAt(random(12)) : random(256),
      ),
    )
    const route = routeOf(target)
    expect(route).toMatch(/^(\/[!-z~|]*|\*)$/)
    expect(route).not.toMatch(/[{}\\]|\/\/|\/\.\.?(\/|$)/)
    expect(routeOf(route), JSON.stringify(target)).toBe(route)
  }
})
