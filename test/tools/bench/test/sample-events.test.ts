import { describe, expect, it } from '@jest/globals'
import { createEventCodec } from '../../../../src/adapters/avro/event-codec.ts'
import { processClock } from '../../../../src/adapters/clock/process-clock.ts'
import { bodyOf } from '../../../../src/core/delivery/payload.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { eventsTopic, MemoryRegistry } from '../../../support/kafka/memory-schema-registry.ts'
import { createEvents, eventBytes, idOf, numberIn } from '../sample-events.ts'

describe('bench events', () => {
  it('have the same size and carry their number in Avro as in JSON', async () => {
    const codec = await createEventCodec({ registry: new MemoryRegistry(), eventsTopic, clock: processClock })
    const record = createEvents(codec, ['s0', 's1'])
    for (const number of [0, 1, 99_999, 12_345_678]) {
      const value = record(number).value as Buffer
      const decoded = codec.decode(value, epochMs(0))
      if (decoded.kind !== 'event') throw new Error(decoded.kind)
      const { message, sourceId } = decoded.event
      expect(value).toHaveLength(eventBytes)
      expect(message.messageId).toBe(idOf(number))
      expect(sourceId).toBe(`s${number % 2}`)
      expect(numberIn(value)).toBe(number)
      expect(numberIn(Buffer.from(bodyOf(message, { anonymousId: 'fallback' })))).toBe(number)
    }
  })

  it.each(['', 'nothing here', 'bench-12', 'bench-12345678x'])('finds no event number in %j', text =>
    expect(numberIn(Buffer.from(text))).toBeUndefined(),
  )
})
