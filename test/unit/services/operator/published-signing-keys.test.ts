import { describe, expect, it } from '@jest/globals'
import { Secret } from '../../../../src/core/secret.ts'
import type { Destination } from '../../../../src/core/settings/settings.ts'
import { createPublishedKeys } from '../../../../src/services/operator/published-signing-keys.ts'
import { ManualClock } from '../../../support/manual-clock.ts'

type Destinations = ReadonlyMap<string, Pick<Destination, 'signingKeys'>>

const key = (byte: number): Secret => new Secret(`whsk_${Buffer.alloc(32, byte).toString('base64')}`)
const keysOf = (byDestination: Readonly<Record<string, readonly Secret[]>>): Destinations =>
  new Map(Object.entries(byDestination).map(([id, signingKeys]) => [id, { signingKeys }]))
const publishing = (destinations: () => Destinations) => createPublishedKeys({ destinations, clock: new ManualClock() })

describe('the published keys', () => {
  it('are those of one destination, or of all without repetitions', async () => {
    const destinations = keysOf({ crm: [key(1), key(2)], erp: [key(2)] })
    const published = publishing(() => destinations)
    const { keys: all } = await published(undefined)
    const { keys: crm } = await published('crm')
    expect(new Set(all.map(({ kid }) => kid)).size).toBe(2)
    expect(all).toEqual(crm)
    expect(await published('erp')).toEqual({ keys: [crm[1]] })
    expect(await published('none')).toEqual({ keys: [] })
  })

  it('do not name destinations, and contain no private key', async () => {
    const text = JSON.stringify(await publishing(() => keysOf({ crm: [key(1)] }))(undefined))
    expect(text).not.toMatch(/crm|whsk_|"d"/)
  })

  it('follow a change of the configuration', async () => {
    let destinations = keysOf({ crm: [key(1)] })
    const published = publishing(() => destinations)
    const { keys: before } = await published('crm')
    destinations = keysOf({ crm: [key(3), key(1)], erp: [] })
    const { keys: after } = await published('crm')
    expect(after).toHaveLength(2)
    expect(after[1]).toBe(before[0])
  })

  it('of all destinations are the same object until the configuration changes', async () => {
    let destinations = keysOf({ crm: [key(1)] })
    const published = publishing(() => destinations)
    const [first, second] = await Promise.all([published(undefined), published(undefined)])
    expect(second).toBe(first)
    destinations = keysOf({ crm: [key(1), key(2)] })
    expect((await published(undefined)).keys).toHaveLength(2)
  })

  it('leave out keys that this process has not read', async () => {
    expect(await publishing(() => keysOf({ crm: [new Secret('')] }))(undefined)).toEqual({ keys: [] })
  })

  it('of many destinations do not block the event loop', async () => {
    let ticks = 0
    const { promise, resolve } = Promise.withResolvers<void>()
    const tick = (): void => {
      ticks++
      if (ticks < 10_000) setImmediate(tick)
      else resolve()
    }
    setImmediate(tick)
    const many = keysOf({ crm: Array.from({ length: 50 }, (_, index) => key(index)) })
    await publishing(() => many)(undefined)
    expect(ticks).toBeGreaterThanOrEqual(49)
    ticks = 10_000
    await promise
  })
})
