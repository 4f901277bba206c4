import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { type Event, keyOf, normaliseEvent } from '../../../../src/core/message/event.ts'
import { callTypes, type Message } from '../../../../src/core/message/message.ts'
import { rejectionCodes } from '../../../../src/core/message/message-rejection.ts'
import { type Normalised, normalise } from '../../../../src/core/message/normalise.ts'
import { parseMessageText } from '../../../../src/core/message/parse-message-json.ts'
import { isTimestamp } from '../../../../src/core/message/timestamp.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { jsonText } from './any-json-text.ts'

const receivedAt = epochMs(Date.parse('2026-11-21T12:00:00.000Z'))
const newId = (): string => 'new-id'
const anything = fc.anything({
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withSparseArray: true,
  withTypedArray: true,
})
const fields = [
  ...['type', 'messageId', 'userId', 'anonymousId', 'groupId', 'previousId', 'event', 'name', 'category', 'timestamp'],
  ...['originalTimestamp', 'sentAt', 'properties', 'traits', 'context', 'integrations', 'unknown', '__proto__'],
]

/** A call with all required fields, and any JSON in the other fields. */
const callText = fc
  .record({
    type: fc.constantFrom(...callTypes),
    id: fc.oneof(fc.constant('"u1"'), fc.bigInt({ min: 0n, max: 10n ** 30n }).map(String)),
    timestamp: fc.constantFrom('null', '1447754426', '"2012-12-02T00:30:08.276Z"', '"2026-11-21 15:59:00+03"', '-1'),
    sentAt: fc.constantFrom('null', '"2026-11-21T13:00:00.000Z"', '{}'),
    others: fc.array(fc.tuple(fc.constantFrom('messageId', 'name', 'category', 'anonymousId', 'more'), jsonText.value)),
    parts: fc.array(
      fc.tuple(
        fc.constantFrom('properties', 'traits', 'context', 'integrations'),
        fc.oneof(jsonText.object, jsonText.value),
      ),
      { maxLength: 4 },
    ),
    contextIntegrations: fc.option(jsonText.object),
  })
  .map(({ type, id, timestamp, sentAt, others, parts, contextIntegrations }) => {
    const members = [...others, ...parts].map(([name, text]) => `"${name}":${text}`)
    if (contextIntegrations !== null) members.push(`"context":{"integrations":${contextIntegrations},"ip":"x"}`)
    const required = `"type":"${type}","event":"Opened","userId":${id},"groupId":${id},"previousId":${id}`
    return `{${[...members, required, `"timestamp":${timestamp},"sentAt":${sentAt}`]}}`
  })

function normalised(text: string, batch: object = {}): Normalised {
  const parsed = parseMessageText(text)
  if (parsed.kind === 'rejected') throw new Error(parsed.message)
  const outcome = normalise(parsed.value, { receivedAt, sentAt: undefined, newId, ...batch })
  if (outcome.kind === 'rejected') throw new Error(outcome.message)
  return outcome
}
const eventOf = (message: Message): Event => ({
  sourceId: 's1',
  destinationId: undefined,
  receivedAt,
  canonical: false,
  origin: undefined,
  message,
})

describe('normalise', () => {
  it('never throws, for any input', () => {
    const input = fc.oneof(
      anything,
      fc.array(fc.tuple(fc.constantFrom(...fields), anything)).map(members => ({
        ...{ type: 'track', userId: 'u1', event: 'Opened' },
        ...Object.fromEntries(members),
      })),
    )
    fc.assert(
      fc.property(input, anything, anything, anything, (value, sentAt, batchContext, batchIntegrations) => {
        const outcome = normalise(value, { receivedAt, sentAt, batchContext, batchIntegrations, newId })
        if (outcome.kind === 'rejected') expect(rejectionCodes).toContain(outcome.code)
        else expect(outcome.message.type).toBe((value as Message).type)
      }),
      { numRuns: 5_000 },
    )
  })

  it('returns a valid message for any call', () => {
    fc.assert(
      fc.property(callText, fc.option(jsonText.value), fc.option(jsonText.value), (text, context, integrations) => {
        const parsedOr = (part: string | null): unknown => (part === null ? undefined : JSON.parse(part))
        const batch = { batchContext: parsedOr(context), batchIntegrations: parsedOr(integrations) }
        const { message } = normalised(text, batch)
        for (const part of [message.properties, message.traits, message.context, message.integrations]) {
          if (part === undefined) continue
          expect(part).toMatch(/^\{.*\}$/su)
          expect(JSON.stringify(JSON.parse(part))).toBe(part)
        }
        expect(Object.keys(JSON.parse(message.context ?? '{}'))).not.toContain('integrations')
        expect([message.context, message.integrations]).not.toContain('{}')
        expect(message.messageId).toMatch(/^[\x21-\x7e]{1,100}$/)
        expect(isTimestamp(message.timestamp)).toBe(true)
        expect(keyOf(message)).toBeTruthy()
      }),
      { numRuns: 1_000 },
    )
  })

  it('changes nothing when applied twice', () => {
    fc.assert(
      fc.property(callText, text => {
        const { message } = normalised(text)
        const again = normaliseEvent(eventOf(message), () => 'another-id')
        expect(again).toEqual({ kind: 'event', event: { ...eventOf(message), canonical: true }, droppedKeys: 0 })
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('normaliseEvent', () => {
  it('never throws, for any record of a foreign producer', () => {
    const part = fc.oneof(fc.string(), jsonText.value, fc.constantFrom(undefined, null))
    const message = fc.record(
      {
        type: fc.oneof(fc.constantFrom(...callTypes, 'delete'), fc.string()),
        userId: fc.option(fc.string()),
        event: fc.option(fc.string()),
        messageId: fc.option(fc.string()),
        timestamp: fc.oneof(fc.double(), fc.maxSafeInteger(), fc.constant(null)),
        properties: part,
        traits: part,
        context: part,
        integrations: part,
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(message, fc.oneof(fc.maxSafeInteger(), fc.constant(receivedAt)), (fields, received) => {
        const event = { ...eventOf(fields as unknown as Message), receivedAt: epochMs(received) }
        const outcome = normaliseEvent(event, newId)
        if (outcome.kind === 'rejected') expect(rejectionCodes).toContain(outcome.code)
        else expect(outcome.event.canonical).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })
})
