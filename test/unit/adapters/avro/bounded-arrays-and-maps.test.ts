import { beforeEach, describe, expect, it } from '@jest/globals'
import { createEventCodec } from '../../../../src/adapters/avro/event-codec.ts'
import type { EventCodec } from '../../../../src/core/ports.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { eventsTopic, MemoryRegistry, schemaWith, trackEvent } from '../../../support/kafka/memory-schema-registry.ts'
import { ManualClock } from '../../../support/manual-clock.ts'

let registry: MemoryRegistry
let codec: EventCodec
beforeEach(async () => {
  registry = new MemoryRegistry()
  codec = await createEventCodec({ registry, eventsTopic, clock: new ManualClock() })
})

const decode = (value: Buffer) => codec.decode(value, epochMs(1))

describe('arrays and maps', () => {
  function long(value: number): number[] {
    const bytes: number[] = []
    let left = 2n * BigInt(value)
    for (; left > 127n; left >>= 7n) bytes.push(Number(left & 127n) | 128)
    return [...bytes, Number(left)]
  }
  const huge = 2 ** 33
  const deletion = {
    ...trackEvent,
    message: { ...trackEvent.message, type: 'delete' as const, event: undefined },
    origin: { kind: 'deletion' as const, id: 'd-1', version: undefined, destinations: [] },
  }
  /**
   * A delete message whose value ends with these bytes instead of an empty list of destinations.
   */
  const withDestinations = (bytes: readonly number[]): Buffer =>
    Buffer.concat([codec.encode(deletion).subarray(0, -1), Buffer.from(bytes)])

  it.each([
    ['more items than there are bytes left', long(huge)],
    ['a second block with more items than there are bytes left', [...long(1), ...long(0), ...long(huge)]],
    ['a block in bytes with more items than there are bytes left', [...long(huge).with(0, 0x81), ...long(4)]],
    ['an item with a length that is no number', [...long(huge), ...Array(200).fill(0x80), 0]],
  ])('that the codec reads: %s', async (_name, bytes) => {
    const value = withDestinations(bytes)
    expect(decode(value)).toMatchObject({
      kind: 'undecodable',
      detail: expect.stringMatching(/ends before the record is complete/),
    })
    const id = registry.add(schemaWith(fields => [...fields, { name: 'last', type: 'null' }]))
    await codec.learn(id)
    value.writeInt32BE(id, 1)
    expect(decode(value)).toMatchObject({
      kind: 'undecodable',
      detail: expect.stringMatching(/ends before the record is complete/),
    })
  })

  it('that the codec reads may have several blocks, also with their size in bytes', () => {
    const blocks = [...long(1), ...long(1), 97, 1, ...long(2), ...long(1), 98, 0]
    expect(decode(withDestinations(blocks))).toMatchObject({ event: { origin: { destinations: ['a', 'b'] } } })
  })

  it('that the codec reads have at most 100,000 items', () => {
    const empty = Buffer.alloc(100_001)
    const value = Buffer.concat([withDestinations(long(empty.length)), empty, Buffer.of(0)])
    expect(decode(value)).toMatchObject({ detail: expect.stringMatching(/array or map has more than 100000 items$/) })
    expect(decode(Buffer.concat([withDestinations(long(100_000)), empty]))).toMatchObject({
      detail: expect.stringMatching(/names more than 10000 destinations/),
    })
  })

  it('that the codec skips may have any number of items without bytes', async () => {
    const nulls = { type: 'array', items: 'null' }
    const id = registry.add(schemaWith(fields => [{ name: 'many', type: nulls }, ...fields]))
    await codec.learn(id)
    const value = Buffer.from([0, 0, 0, 0, id, ...long(huge), 0, ...codec.encode(trackEvent).subarray(5)])
    expect(decode(value)).toStrictEqual({ kind: 'event', event: trackEvent })
  })
})
