import { randomInt } from 'node:crypto'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { createEventCodec } from '../../../../src/adapters/avro/avro.ts'
import { UnknownSchemas } from '../../../../src/adapters/avro/confluent-codec.ts'
import type { EventCodec } from '../../../../src/core/ports.ts'
import { epochMs } from '../../../../src/core/units.ts'
import { eventsTopic, MemoryRegistry } from '../../../support/kafka/memory-registry.ts'
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
/** As a service does with each record. */
async function read(id: number): Promise<string> {
  const { kind } = codec.decode(framed(id), epochMs(1))
  if (kind === 'schema_needed') await codec.learn(id)
  return kind
}

describe('schema ids that the registry does not know', () => {
  it('random ones cost a few questions, and no memory', async () => {
    const kinds = new Set<string>()
    for (let record = 0; record < 20_000; record++) kinds.add(await read(randomInt(-(2 ** 31), 2 ** 31)))
    expect([...kinds].toSorted()).toEqual(['schema_needed', 'undecodable'])
    // 20, and those few that may well be an id.
    expect(registry.asked.length).toBeLessThan(50)
  })

  it('an id near the known ones is asked for, however many random ones came before', async () => {
    for (let id = 0; id < 100; id++) await read(2 ** 30 + id)
    expect(await read(2)).toBe('schema_needed')
    expect(registry.asked).toContain(2)
  })

  it('one that is not known is no reason to hold its partition for half a minute', async () => {
    expect(await read(9)).toBe('schema_needed')
    expect(await read(9)).toBe('undecodable')
    await clock.advance(30_000)
    expect(await read(9)).toBe('schema_needed')
  })

  it('a registry whose ids are far apart is asked once a second', async () => {
    for (let id = 0; id < 100; id++) await read(2 ** 30 + id)
    const before = registry.asked.length
    await clock.advance(3_000)
    for (let id = 200; id < 300; id++) await read(2 ** 30 + id)
    expect(registry.asked.length - before).toBe(3)
  })

  it('no more than 10,000 are remembered, the newest', () => {
    const unknown = new UnknownSchemas(clock, 1)
    for (let id = 1; id <= 30_000; id++) unknown.noteUnknown(id)
    expect([unknown.size, unknown.has(1), unknown.has(30_000)]).toEqual([10_000, false, true])
  })
})
