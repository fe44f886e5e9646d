import { readFileSync } from 'node:fs'
import { minVersion, satisfies } from 'semver'
import { expect, test } from 'vitest'

interface Package {
  readonly engines?: { readonly node?: string }
}

const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  packages: Record<string, Package>
}

test('every package in the tree runs on the oldest Node that is promised', () => {
  const oldest = minVersion(lock.packages['']?.engines?.node ?? '')?.version
  expect(oldest).toBe('20.19.0')
  const demanding = Object.entries(lock.packages).filter(([, { engines }]) => engines?.node !== undefined)
  expect(demanding.length).toBeGreaterThan(50)
  const tooNew = demanding.filter(([, { engines }]) => !satisfies(oldest as string, engines?.node as string))
  expect(tooNew.map(([path, { engines }]) => `${path} wants ${engines?.node}`)).toEqual([])
})
