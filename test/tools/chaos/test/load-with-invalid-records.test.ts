import { describe, expect, it } from '@jest/globals'
import { createEventCodec } from '../../../../src/adapters/avro/event-codec.ts'
import { normaliseEvent } from '../../../../src/core/message/event.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { eventOf } from '../../../support/builders.ts'
import { eventsTopic, MemoryRegistry } from '../../../support/kafka/memory-schema-registry.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { type BadKind, badKinds } from '../load-with-invalid-records.ts'

const codec = await createEventCodec({ registry: new MemoryRegistry(), eventsTopic, clock: new ManualClock() })
const event = eventOf()
const madeAs = (kind: BadKind, chance = 'a'): Buffer | null => badKinds[kind].value(event, codec, Buffer.from(chance))

/** The result begins with `event` if the bytes are valid. */
function fateOf(value: Buffer | null): string {
  if (value === null) return 'null'
  const decoded = codec.decode(value, epochMs(0))
  if (decoded.kind !== 'event') return decoded.kind
  if (decoded.event.canonical) return `event of ${decoded.event.sourceId}`
  return normaliseEvent(decoded.event, () => 'id').kind
}

describe('bad records of the chaos load', () => {
  it.each<[kind: BadKind, fate: string]>([
    ['JSON instead of Avro', 'undecodable'],
    ['random bytes', 'undecodable'],
    ['random bytes after a valid schema id', 'undecodable'],
    ['truncated', 'undecodable'],
    ['unknown schema', 'schema_needed'],
    ['empty', 'undecodable'],
    ['null', 'null'],
    ['marked canonical with invalid JSON', 'undecodable'],
    ['marked canonical with a time out of range', 'undecodable'],
    ['delete without a deletion request', 'event of web'],
    ['nearly as large as the topic permits', 'undecodable'],
    ['event without a name', 'rejected'],
  ])('%s: %s', (kind, fate) => expect(fateOf(madeAs(kind))).toBe(fate))

  it('derives every bad record from a good one', () =>
    expect(fateOf(codec.encode(event))).toMatch(/^event of (?!nobody)/))

  it('takes random bytes from the seeded chance', () => {
    expect(madeAs('random bytes', 'a')).not.toEqual(madeAs('random bytes', 'b'))
  })
})
