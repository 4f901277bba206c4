import { expect, it } from '@jest/globals'
import { knownName, slotOf } from '../../../../../src/adapters/kafka/kafkajs/patch-record-decoder.ts'
import { initialState, toHeaders } from '../../../../../src/core/delivery/delivery-state.ts'
import { durationMs, epochMs } from '../../../../../src/core/time.ts'

const origin = { topic: 't', partition: 0, offset: 0, timestamp: epochMs(0) }
const carried = { ...initialState(origin, 'crm', 'm', epochMs(0), durationMs(1)), firstTrace: '' }
const names = [...Object.keys(toHeaders(carried)), 'null-value', 'origin-key', 'traceparent', 'tracestate']

const whole = (name: string): readonly [Buffer, number, number] => {
  const bytes = Buffer.from(`<${name}>`)
  return [bytes, 1, bytes.length - 1]
}

it("Hookline's own header names have different cache slots", () => {
  const places = names.map(name => slotOf(...whole(name)))
  expect(new Set(places).size).toBe(names.length)
})

it('distinguishes names of the same cache slot', () => {
  const alike = ['abcde', 'aXcXe', 'abcde', 'aYcYe', '', 'é', 'x'.repeat(100)]
  expect(new Set(alike.slice(0, 4).map(name => slotOf(...whole(name)))).size).toBe(1)
  expect(alike.map(name => knownName(...whole(name)))).toEqual(alike)
})
