import { randomInt } from 'node:crypto'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { createEventCodec } from '../../../../src/adapters/avro/event-codec.ts'
import { UnknownSchemaIds } from '../../../../src/adapters/avro/limit-schema-id-lookups.ts'
import type { EventCodec } from '../../../../src/core/ports.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { eventsTopic, MemoryRegistry, schemaWith } from '../../../support/kafka/memory-schema-registry.ts'
import { ManualClock, turns } from '../../../support/manual-clock.ts'

let clock: ManualClock
let registry: MemoryRegistry
let codec: EventCodec
beforeEach(async () => {
  clock = new ManualClock()
  registry = new MemoryRegistry()
  codec = await createEventCodec({ registry, eventsTopic, clock })
})

const framed = (id: number): Buffer => {
  const value = Buffer.alloc(20)
  value.writeInt32BE(id, 1)
  return value
}
/** Decodes a value as the services do: if the schema is unknown, the codec fetches it. */
async function read(id: number): Promise<string> {
  const { kind } = codec.decode(framed(id), epochMs(1))
  if (kind === 'schema_needed') await codec.learn(id)
  return kind
}

describe('schema ids that the registry does not know', () => {
  it('cause few look-ups and take little memory when they are random', async () => {
    const kinds = new Set<string>()
    for (let record = 0; record < 20_000; record++) kinds.add(await read(randomInt(-(2 ** 31), 2 ** 31)))
    expect([...kinds].toSorted()).toEqual(['schema_needed', 'undecodable'])
    // The codec makes at most 20 look-ups of ids far from all known ids. A few random ids are near
    // a known id.
    expect(registry.asked.length).toBeLessThan(50)
  })

  it('are looked up when they are near the known ones, after any number of random ones', async () => {
    for (let id = 0; id < 100; id++) await read(2 ** 30 + id)
    expect(codec.decode(framed(2), epochMs(1)).kind).toBe('schema_needed')
  })

  it('make a value undecodable after one look-up, for 30 s', async () => {
    expect(await read(2_000)).toBe('schema_needed')
    expect(await read(2_000)).toBe('undecodable')
    await clock.advance(30_000)
    expect(await read(2_000)).toBe('schema_needed')
  })

  it('are looked up once a second when they are far above the known ones', async () => {
    for (let id = 0; id < 100; id++) await read(2 ** 30 + id)
    const before = registry.asked.length
    await clock.advance(3_000)
    for (let id = 200; id < 300; id++) await read(2 ** 30 + id)
    expect(registry.asked.length - before).toBe(3)
  })

  it('are remembered up to 10,000, the newest ones', () => {
    const unknown = new UnknownSchemaIds(clock, 1)
    for (let id = 1; id <= 30_000; id++) unknown.noteUnknown(id)
    expect([unknown.size, unknown.has(1), unknown.has(30_000)]).toEqual([10_000, false, true])
  })
})

describe('schema ids a little above the highest known one', () => {
  /** Starts `learn`, and returns a function that returns its result so far. */
  function learning(id: number): () => boolean | 'waits' {
    let result: boolean | 'waits' = 'waits'
    void codec.learn(id).then(known => {
      result = known
    })
    return () => result
  }

  it('are asked for again each second, because a follower of the registry may lack a new schema', async () => {
    const result = learning(2)
    await clock.advance(999, turns)
    expect([result(), registry.asked]).toEqual(['waits', [2]])
    registry.add(schemaWith(fields => fields))
    await clock.advance(1, turns)
    expect([result(), registry.asked]).toEqual([true, [2, 2]])
  })

  it('are unknown after 10 s, and are then handled like other unknown ids', async () => {
    const result = learning(2)
    await clock.advance(9_999, turns)
    expect(result()).toBe('waits')
    await clock.advance(1, turns)
    expect([result(), registry.asked.length]).toEqual([false, 11])
    expect(await read(2)).toBe('undecodable')
    await clock.advance(120_000, turns)
    expect(await codec.learn(2)).toBe(false)
    expect(registry.asked.length).toBe(12)
  })

  it('wait again after a wait in which a new id became known', async () => {
    const first = learning(2)
    registry.add(schemaWith(fields => fields))
    await clock.advance(1_000, turns)
    expect(first()).toBe(true)
    await clock.advance(15_000, turns)
    const second = learning(3)
    registry.add(schemaWith(fields => fields))
    await clock.advance(1_000, turns)
    expect(second()).toBe(true)
  })

  it('wait for 10 s of a minute in total', async () => {
    const results = [learning(2), learning(1_001)]
    await clock.advance(5_000, turns)
    results.push(learning(3))
    await clock.advance(5_000, turns)
    expect(results.map(result => result())).toEqual([false, false, false])
    expect(await codec.learn(4)).toBe(false)
    await clock.advance(49_999, turns)
    expect(await codec.learn(5)).toBe(false)
    await clock.advance(1, turns)
    const late = learning(6)
    await clock.advance(1_000, turns)
    expect(late()).toBe('waits')
  })

  it('do not wait when they are more than 1,000 above it, or below it', async () => {
    expect(await codec.learn(1_002)).toBe(false)
    const known = registry.add({ kind: 'unusable', detail: 'x' })
    for (let id = 3; id <= 6; id++) registry.add({ kind: 'unknown' })
    const high = registry.add({ kind: 'unusable', detail: 'x' })
    expect(await Promise.all([codec.learn(known), codec.learn(high), codec.learn(6)])).toEqual([true, true, false])
  })
})
