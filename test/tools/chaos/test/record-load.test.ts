import { describe, expect, it } from '@jest/globals'
import { createEventCodec } from '../../../../src/adapters/avro/avro.ts'
import { normaliseEvent } from '../../../../src/core/message/event.ts'
import { epochMs } from '../../../../src/core/units.ts'
import { eventOf } from '../../../support/dispatcher/deliveries.ts'
import { eventsTopic, MemoryRegistry } from '../../../support/kafka/memory-registry.ts'
import { type BadKind, badKinds } from '../../chaos/record-load.ts'

const codec = await createEventCodec({ registry: new MemoryRegistry(), eventsTopic, clock: { monotonic: () => 0 } })
const event = eventOf()
const madeAs = (kind: BadKind, chance = 'a'): Buffer | null => badKinds[kind].value(event, codec, Buffer.from(chance))

/** What becomes of it in the codec and in the normalisation; `event`: nothing is wrong with its bytes. */
function fateOf(value: Buffer | null): string {
  if (value === null) return 'null'
  const decoded = codec.decode(value, epochMs(0))
  if (decoded.kind !== 'event') return decoded.kind
  if (decoded.event.canonical) return `event of ${decoded.event.sourceId}`
  return normaliseEvent(decoded.event, () => 'id').kind
}

describe('bad records of the chaos load', () => {
  it.each<[kind: BadKind, fate: string]>([
    ['JSON and not Avro', 'undecodable'],
    ['random bytes', 'undecodable'],
    ['random bytes behind a good schema', 'undecodable'],
    ['cut short', 'undecodable'],
    ['a schema that nobody knows', 'schema_needed'],
    ['empty', 'undecodable'],
    ['null', 'null'],
    ['marked canonical with broken JSON', 'undecodable'],
    ['marked canonical with a time out of range', 'undecodable'],
    ['a delete that nobody asked for', 'event of web'],
    ['as large as the topic takes', 'undecodable'],
    ['no name of the event', 'rejected'],
  ])('%s: %s', (kind, fate) => expect(fateOf(madeAs(kind))).toBe(fate))

  it('derives every bad record from a good one', () =>
    expect(fateOf(codec.encode(event))).toMatch(/^event of (?!nobody)/))

  it('takes random bytes from the seeded chance', () => {
    expect(madeAs('random bytes', 'a')).not.toEqual(madeAs('random bytes', 'b'))
  })
})
