import { describe, expect, test } from 'vitest'
import { Reservations } from './reservations.ts'

const until = (time: number) => ({ cost: 1, at: 0, until: time })

describe('the reservations of a memory store', () => {
  test('are found by key and id until they expire', () => {
    const reservations = new Reservations(100)
    reservations.add('k', 'a', until(10), 0)
    expect(reservations.find('k', 'a', 9)).toEqual(until(10))
    expect(reservations.find('k', 'a', 10)).toBeUndefined()
    expect(reservations.find('k', 'b', 0)).toBeUndefined()
    expect(reservations.find('other', 'a', 0)).toBeUndefined()
  })

  test('that have expired are forgotten by the next one of their key, all of them; a clock that steps back finds the others', () => {
    const reservations = new Reservations(100)
    for (const [id, time] of Object.entries({ a: 30, b: 10, c: 20, d: 5 })) reservations.add('k', id, until(time), 0)
    reservations.add('other', 'a', until(5), 0)
    reservations.delete('k', 'd')
    reservations.add('k', 'e', until(40), 20)
    const there = ['a', 'b', 'c', 'd', 'e'].filter((id) => reservations.find('k', id, 0) !== undefined)
    expect(there).toEqual(['a', 'e'])
    expect(reservations.find('other', 'a', 0)).toBeDefined()
    expect(reservations.size).toBe(3)
  })

  // The kind of fault: what dead holders have reserved, of keys that never come back, stays for ever.
  test('of keys that never come back are swept as others are made', () => {
    const reservations = new Reservations(1_000_000)
    for (let i = 0; i < 20_000; i++) reservations.add(`k${i}`, 'id', until(i + 100), i)
    expect(reservations.size).toBeLessThan(2000)
  })

  test('are never more than the bound, and the soonest to expire go first', () => {
    const reservations = new Reservations(10)
    for (let i = 0; i < 10; i++) reservations.add(`k${i}`, 'long', until(1000 + i), 0)
    reservations.add('k3', 'short', until(500), 0)
    reservations.add('k3', 'next', until(2000), 0)
    expect(reservations.size).toBe(10)
    expect(reservations.find('k0', 'long', 0)).toBeUndefined()
    expect(reservations.find('k3', 'short', 0)).toBeUndefined()
    expect(reservations.find('k9', 'long', 0)).toBeDefined()
  })

  test('of one key are forgotten together, even while the round stands among them', () => {
    const reservations = new Reservations(10)
    for (let i = 0; i < 30; i++) reservations.add('k', `i${i}`, until(1000), 0)
    reservations.add('other', 'a', until(1000), 0)
    reservations.forget('k')
    reservations.forget('k')
    expect([reservations.size, reservations.find('k', 'i29', 0)]).toEqual([1, undefined])
    for (let i = 0; i < 30; i++) reservations.add(`k${i}`, 'b', until(1000), 0)
    expect(reservations.size).toBe(10)
  })

  test('one that is made again in its place is counted once', () => {
    const reservations = new Reservations(10)
    reservations.add('k', 'a', until(10), 0)
    reservations.add('k', 'a', until(30), 20)
    reservations.add('k', 'a', until(40), 20)
    expect(reservations.size).toBe(1)
    expect(reservations.find('k', 'a', 35)).toEqual(until(40))
    reservations.delete('k', 'a')
    reservations.delete('k', 'a')
    expect(reservations.size).toBe(0)
  })
})
