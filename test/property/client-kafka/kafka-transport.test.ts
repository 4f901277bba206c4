import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { Sender } from '../../../packages/client/src/sender.ts'
import { library } from '../../../packages/client/src/version.ts'
import { keyOf } from '../../../src/core/message/event.ts'
import { normalise } from '../../../src/core/message/normalise.ts'
import { parseMessageText } from '../../../src/core/message/parse-message-json.ts'
import { batchOf, failure, type Reply, transportOn } from '../../support/client/kafka-transport-harness.ts'
import { type Outcome, transportOnProducer } from '../../support/client/kafka-transport-on-services-producer.ts'
import { settled } from '../../support/client/sender-harness.ts'

const replies: readonly Reply[] = ['stored', failure('PASSES', true), failure('FINAL', false), new Error('a bug')]

it('for any responses of Kafka, settles each message once and writes no stored message again', async () => {
  const scenario = fc.record({
    answers: fc.array(fc.constantFrom(...replies), { minLength: 1, maxLength: 12 }),
    openings: fc.array(fc.constantFrom(failure('registry_unavailable'), failure('schema_not_registered')), {
      maxLength: 3,
    }),
    messages: fc.integer({ min: 1, max: 30 }),
    size: fc.integer({ min: 1, max: 8 }),
    maxRetries: fc.nat(3),
  })
  await fc.assert(
    fc.asyncProperty(scenario, async ({ answers, openings, messages, size, maxRetries }) => {
      const script = transportOn((_, turn) => answers[turn % answers.length] as Reply)
      script.failOpening(...openings)
      const sent: string[] = []
      const failed: string[] = []
      const sender = new Sender({
        settings: { size, flushAfter: 5_000, maxRetries, maxQueueMessages: 1_000, maxQueueBytes: 1e7, onFull: 'error' },
        transport: script.transport,
        clock: script.clock,
        onSent: each => sent.push(...each.map(({ messageId }) => messageId)),
        onFailure: ({ messageIds }) => failed.push(...messageIds),
        onRetry: () => {},
        onBusy: () => {},
      })
      const { messages: entries } = batchOf(messages)
      for (const entry of entries) void sender.add(entry)
      const closed = sender.close()
      await script.clock.advance(3_600_000, settled)
      await closed

      expect([...sent, ...failed].sort()).toEqual(entries.map(({ messageId }) => messageId).sort())
      expect(sender.counts).toEqual({
        queued: messages,
        sent: sent.length,
        failed: failed.length,
        dropped: 0,
        waiting: 0,
      })
      const stored = script.stored.map(({ event }) => event.message.messageId)
      expect(new Set(stored).size).toBe(stored.length)
      for (const id of sent) expect(stored).toContain(id)
      expect(script.clock.holds).toBe(0)
    }),
    { numRuns: 300 },
  )
})

it('for any failures of requests, the messages of one user are stored in order', async () => {
  const scenario = fc.record({
    outcomes: fc.array(fc.constantFrom<Outcome>('stored', 'failed', 'unanswered', 'too large'), { maxLength: 12 }),
    users: fc.array(fc.nat(3), { minLength: 1, maxLength: 16 }),
  })
  await fc.assert(
    fc.asyncProperty(scenario, async ({ outcomes, users }) => {
      const outcomeOf = (records: number, turn: number): Outcome => {
        const outcome = outcomes[turn - 1] ?? 'stored'
        return outcome === 'too large' && records === 1 ? 'stored' : outcome
      }
      // A request has at most 900 KiB, so at most three of these records of 250 KiB.
      const { send, stored } = transportOnProducer(outcomeOf, 250 * 1024)
      const batch = batchOf(users.length, index => ({ userId: `u${users[index]}` }))
      let result = await send(batch)
      while (result.kind === 'retry') result = await send(batch)

      expect(result).toEqual({ kind: 'taken', rejected: [] })
      const withoutCopies = [...new Set(stored)]
      for (const user of new Set(users)) {
        const isOf = (id: string): boolean => users[Number(id.slice(1))] === user
        expect(withoutCopies.filter(isOf)).toEqual(batch.messages.map(({ messageId }) => messageId).filter(isOf))
      }
    }),
    { numRuns: 300 },
  )
})

it('a record equals the one that a collector writes for the same message', async () => {
  const properties = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue(), { maxKeys: 5 })
  const call = fc.record(
    { properties, context: properties, integrations: properties, userId: fc.string({ minLength: 1, unit: 'binary' }) },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(call, async given => {
      const { send, appended, clock } = transportOn()
      const batch = batchOf(1, () => given)
      await send(batch)
      const overTheWire = parseMessageText(batch.messages[0]?.text ?? '')
      const collected = normalise(overTheWire.kind === 'parsed' ? overTheWire.value : undefined, {
        receivedAt: clock.now(),
        sentAt: clock.now(),
        batchContext: { library },
        newId: () => 'made',
      })
      const [record] = appended
      expect(collected).toMatchObject({ kind: 'message', message: record?.event.message })
      expect(record?.key).toBe(record && keyOf(record.event.message))
    }),
  )
})
