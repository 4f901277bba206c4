import { describe, expect, it } from '@jest/globals'
import { BodyBudget, type BodyRefusal } from '../../../../src/core/collector/request-body-memory-budget.ts'

interface Held {
  /** Id of the source, or `-` if the source is unknown. */
  readonly source: string
  readonly address: string
  readonly bytes: number
  readonly ageMs: number
  readonly isReceived: boolean
}

/**
 * Parses `source/address:bytes`. `@` and a number are the age of the body in ms. `!`: the body was
 * received.
 */
function heldOf(text: string): Held {
  const [, source = '', address = source, bytes, age = 0] = /^(.)(?:\/(.))?:(\d+)(?:@(\d+))?/.exec(text) ?? []
  return { source, address, bytes: Number(bytes), ageMs: Number(age), isReceived: text.endsWith('!') }
}

/**
 * Requests memory for the last body. Returns whether it gets the memory, the indexes of the evicted
 * bodies, and the limit that was reached.
 */
function ask(bodies: readonly Held[]): (boolean | number | BodyRefusal)[] {
  const before = bodies.slice(0, -1)
  const newcomer = bodies.at(-1)!
  let now = 0
  const refused: BodyRefusal[] = []
  const budget = new BodyBudget(
    { authenticated: 150, keyless: 60, perAddress: 90 },
    () => now,
    cause => refused.push(cause),
  )
  const evicted: number[] = []
  const open = ({ source, address }: Held, index: number) =>
    budget.open({ sourceId: source === '-' ? undefined : source, address }, () => evicted.push(index))
  const oldest = Math.max(0, ...before.map(({ ageMs }) => ageMs))
  for (const [index, held] of [...before.entries()].sort(([, a], [, b]) => b.ageMs - a.ageMs)) {
    now = oldest - held.ageMs
    const body = open(held, index)
    expect(body.take(held.bytes)).toBe(true)
    if (held.isReceived) body.received()
  }
  now = oldest
  return [open(newcomer, -1).take(newcomer.bytes), ...evicted, ...refused]
}

describe('fair shares of the body budget', () => {
  it.each<[string, bodies: string, result: ReturnType<typeof ask>]>([
    ['room for all', 'a:50 b:50', [true]],
    ['a newcomer within its share evicts one of a larger source', 'a/x:40 a/y:35@5 b:20 b/z:25', [true, 1, 'budget']],
    ['a body that was received is not evicted', 'a:70! b:20 b:30', [false, 'budget']],
    ['a source beyond its share loses its own slow body', 'a/x:70@60000 a/y:20', [true, 0, 'budget']],
    ['but not a body that has just begun: the newcomer is refused', 'a/x:70 a/y:20', [false, 'budget']],
    ['a slow small body goes before a fast large one', 'a/x:50@1000 a/y:20@60000 a/z:10', [true, 1, 'budget']],
    ['bodies without a key never take the memory of sources', '-/x:30 a:75', [true]],
    ['bodies without a key share their memory by address', '-/x:30 -/y:20', [true, 0, 'budget']],
    ['one address has its maximum over all sources', 'a/x:45 b/x:40 c/x:10', [false, 'address']],
    ['an address at its maximum loses its own slow body', 'a/x:45@60000 b/x:40 c/x:10', [true, 0, 'address']],
    ['a body above the maximum of an address evicts none', 'a/x:45@60000 b/x:91', [false, 'address']],
    ['a body above half of the memory evicts none', 'a:30@60000 b/x:40 a/y:76', [false, 'budget']],
  ])('%s', (_, bodies, result) => {
    expect(ask(bodies.split(' ').map(heldOf))).toEqual(result)
  })

  it.each<[string, bodies: string, result: ReturnType<typeof ask>]>([
    ['the oldest large one, of another address', '-/x:14@9000 -/y:14@8000 -/z:20', [true, 0, 'budget']],
    ['also for a newcomer within its share, not the largest', '-/x:20@10 -/y:12@9000 -/z:15', [true, 1, 'budget']],
    ['none that is far below its share, at any age', '-/x:5@60000 -/y:26@10 -/z:15', [true, 1, 'budget']],
    ['none that is complete', '-/x:14@9000! -/y:14@8000 -/z:20', [true, 1, 'budget']],
    ['no younger one, when the body is above its share', '-/x:14 -/y:14 -/z:20', [false, 'budget']],
    ['never one with a key', 'a:40@9000 b:40@8000 -/z:31', [false, 'budget']],
    ['nothing of another source, when it has a key itself', 'a:40@9000 b:40@8000 c:50', [false, 'budget']],
  ])('evicted for a body without a key: %s', (_, bodies, result) => {
    expect(ask(bodies.split(' ').map(heldOf))).toEqual(result)
  })

  it('a body counts for its source when that is known, and gets no more memory after its eviction', () => {
    let now = 0
    const budget = new BodyBudget(
      { authenticated: 150, keyless: 60, perAddress: 200 },
      () => now,
      () => {},
    )
    const body = budget.open({ sourceId: undefined, address: 'x' }, () => {})
    expect([body.take(30), body.assign('a'), body.take(45)]).toEqual([true, true, true])
    expect(budget.held).toEqual({ authenticated: 75, keyless: 0 })
    now = 5_000
    const newcomer = budget.open({ sourceId: 'b', address: 'y' }, () => {})
    expect(newcomer.take(40)).toBe(true)
    expect([body.take(1), body.assign('c')]).toEqual([false, false])
    body.release()
    newcomer.release()
    expect(budget.held).toEqual({ authenticated: 0, keyless: 0 })
  })

  it.each([
    ['at most half of the memory of its part', 'a', 200, 75],
    ['at most half of the memory without a known source', undefined, 200, 30],
    ['at most the memory of its address', 'a', 50, 50],
  ])('alone, a body can ever hold %s', (_, sourceId, perAddress, most) => {
    const limits = { authenticated: 150, keyless: 60, perAddress }
    const budget = new BodyBudget(
      limits,
      () => 0,
      () => {},
    )
    const body = budget.open({ sourceId, address: 'x' }, () => {})
    body.take(10)
    expect([body.canEverHold(most - 10), body.canEverHold(most - 9)]).toEqual([true, false])
    expect([body.take(most - 9), body.take(most - 10)]).toEqual([false, true])
    expect(body.canEverHold(1)).toBe(false)
  })

  it('an answered request counts its response only, which is evicted like a slow body', () => {
    let now = 0
    const budget = new BodyBudget(
      { authenticated: 150, keyless: 60, perAddress: 200 },
      () => now,
      () => {},
    )
    const evicted: string[] = []
    const open = (name: string) => budget.open({ sourceId: 'a', address: 'x' }, () => evicted.push(name))
    const first = open('first')
    first.received()
    expect(first.take(70)).toBe(true)
    expect(open('refused').take(20)).toBe(false)
    first.answered(60)
    expect(budget.held.authenticated).toBe(60)
    now = 2_000
    const second = open('second')
    expect(second.take(20)).toBe(true)
    expect(evicted).toEqual(['first'])
    first.release()
    second.answered(1_000)
    expect(budget.held.authenticated).toBe(20)
    second.release()
    expect(budget.held.authenticated).toBe(0)
  })
})

it('reads the clock a few times per eviction, not for each body, because a collector can have thousands', () => {
  let now = 0
  let readings = 0
  const clock = () => {
    readings += 1
    return now
  }
  const budget = new BodyBudget({ authenticated: 2_000, keyless: 1, perAddress: 1_000 }, clock, () => {})
  const evicted: number[] = []
  const open = () => budget.open({ sourceId: 'web', address: 'x' }, () => evicted.push(now))
  for (let bodies = 0; bodies < 1_000; bodies += 1) open().take(1)
  now = 60_000
  readings = 0
  expect(open().take(1)).toBe(true)
  expect(evicted).toEqual([60_000])
  expect(readings).toBeLessThan(10)
})
