import { randomInt } from 'node:crypto'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { createEventCodec } from '../../../../src/adapters/avro/event-codec.ts'
import { UnknownSchemaIds } from '../../../../src/adapters/avro/unknown-schema-ids.ts'
import type { EventCodec } from '../../../../src/core/ports.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { eventsTopic, MemoryRegistry } from '../../../support/kafka/memory-schema-registry.ts'
import { ManualClock } from '../../../support/manual-clock.ts'

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
    // At most 20 look-ups are for ids that are far from all known ids, because no time passes in
    // this test. Look-ups of ids near a known id are not limited, but few random ids are near.
    expect(registry.asked.length).toBeLessThan(50)
  })

  it('are looked up when they are near the known ones, after any number of random ones', async () => {
    for (let id = 0; id < 100; id++) await read(2 ** 30 + id)
    expect(await read(2)).toBe('schema_needed')
    expect(registry.asked).toContain(2)
  })

  it('make a value undecodable after one look-up, for 30 s', async () => {
    expect(await read(9)).toBe('schema_needed')
    expect(await read(9)).toBe('undecodable')
    await clock.advance(30_000)
    expect(await read(9)).toBe('schema_needed')
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
