import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { listeningService } from '../testing/listening-service.ts'

test('the start page shows the rules, and its policy lets run exactly what is in it', async () => {
  const rules = [
    {
      name: 'order',
      match: { route: '/a<b>&"c"' },
      key: ['tenant', 'user'],
      limit: 1000,
      window: '90s',
      description: '<script>alert(1)</script>',
    },
    { name: 'all', limit: 5, window: 1500 },
    { name: 'daily', limit: 7, algorithm: 'fixed-window' as const, align: 'day' as const, timeZone: 'Asia/Tokyo' },
  ]
  const service = await listeningService({ rules })
  const response = await fetch(service.url)
  const page = await response.text()
  await service.close()
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')

  for (const shown of [
    'order',
    'tenant, user',
    '1,000',
    '90 s',
    '1,500 ms',
    'every request',
    'all together',
    'day (Asia/Tokyo)',
  ])
    expect(page).toContain(shown)
  expect(page).toContain('route = /a&lt;b&gt;&amp;&quot;c&quot;')
  expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  expect(page).not.toMatch(/<!-- \w+ -->/)

  const policy = response.headers.get('content-security-policy') ?? ''
  for (const [kind, directive] of [
    ['script', 'script-src'],
    ['style', 'style-src'],
  ] as const) {
    const blocks = [...page.matchAll(new RegExp(`<${kind}[^>]*>(.*?)</${kind}>`, 'gs'))].map(([, text]) => text ?? '')
    expect(blocks).toHaveLength(1)
    expect(policy).toContain(
      `${directive} 'sha256-${createHash('sha256')
        .update(blocks[0] as string)
        .digest('base64')}'`,
    )
  }
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toContain('unsafe')
  // Nothing of it comes from elsewhere, and nothing inline that the policy would stop.
  expect(page).not.toMatch(/\s(src|style|on\w+)=|url\(|@import/)
  expect([...page.matchAll(/<link[^>]*href="([^"]*)"/g)].map(([, href]) => href)).toEqual(['data:,'])
  expect(response.headers.get('x-frame-options')).toBe('DENY')
})
