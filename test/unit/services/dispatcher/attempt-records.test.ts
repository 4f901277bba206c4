import { describe, expect, it } from '@jest/globals'
import { decodeRecordedAttempt } from '../../../../src/core/delivery/attempt-details-and-recording-rule.ts'
import type { RecordedAttempts } from '../../../../src/core/settings/schema-of-attempts-topic.ts'
import type { CallResult } from '../../../../src/core/webhook-ports.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { answered, DispatcherHarness, destination, ok } from '../../../support/dispatcher/harness.ts'
import { ScriptedProducer } from '../../../support/kafka/scripted-producer.ts'

async function started(answer: CallResult | (() => CallResult) = ok, attemptsTopic: RecordedAttempts = 'all') {
  const producer = new ScriptedProducer()
  const answerOf = typeof answer === 'function' ? answer : () => answer
  const options = { attemptProducer: producer, answer: answerOf, delivery: { attemptsTopic } }
  const harness = await DispatcherHarness.started(options)
  const written = () =>
    producer
      .records('hookline.attempts')
      .map(({ key, value }) => ({ key: String(key), ...decodeRecordedAttempt(String(value)) }))
  const count = (result: string): number => harness.count(`attemptRecords{${result}}`)
  return { producer, harness, written, count }
}

describe('records of attempts', () => {
  it('are written for every attempt, keyed by message id, with the place of the event', async () => {
    const { harness, written } = await started(answered(503))
    harness.write({ message: trackMessage('m1') })
    await harness.advance(1)
    await harness.advance(10_000)
    const origin = { topic: 'hookline.events', partition: 0, offset: 0 }
    const common = {
      key: 'm1',
      origin,
      round: 0,
      statuses: { 0: 503 },
      destination: 'crm',
      source: 'web',
      messageId: 'm1',
      decision: 'retried',
    }
    expect(written()).toMatchObject([
      { ...common, attempt: 1, outcomes: { 0: 'http_5xx' }, at: harness.calls[0]?.at, nextAttemptInMs: 10_000 },
      { ...common, attempt: 2, at: harness.calls[1]?.at, nextAttemptInMs: 30_000 },
    ])
  })

  it('are by default written only for failures, and for a success after a failure', async () => {
    const answers = [ok, answered(503), ok]
    const { harness, written } = await started(() => answers.shift() ?? ok, 'failures')
    harness.write({ message: trackMessage('m1') })
    await harness.advance(1)
    harness.write({ message: trackMessage('m2') })
    await harness.advance(1)
    await harness.advance(10_000)
    expect(written()).toMatchObject([
      { key: 'm2', attempt: 1, decision: 'retried', tierMs: 10_000 },
      { key: 'm2', attempt: 2, decision: 'delivered', outcomes: { 0: 'delivered' } },
    ])
  })

  it('say why a delivery ended without an attempt', async () => {
    const { harness, written } = await started(answered(503), 'failures')
    harness.write({ message: trackMessage('m1') })
    await harness.advance(1)
    harness.destinations = [destination('crm', { enabled: false })]
    await harness.advance(10_000)
    expect(written().slice(1)).toMatchObject([
      { key: 'm1', kind: 'result', attempt: 1, decision: 'dropped', reason: 'disabled', outcomes: {} },
    ])
  })

  it('do not delay deliveries or commits when Kafka does not answer', async () => {
    const { harness, producer, count } = await started()
    harness.write({ message: trackMessage('m1') })
    await harness.advance(1)
    expect(producer.waiting).toHaveLength(1)
    expect(harness.log.committed('live', harness.topics.events)).toBe(1)
    const stopped = harness.service.stop()
    await harness.advance(1)
    await stopped
    producer.answer()
    expect(count('written')).toBe(1)
  })

  it('are only counted when they are not stored', async () => {
    const { harness, producer, count } = await started()
    harness.write({ message: trackMessage('m1') })
    await harness.advance(1)
    producer.answer(new Error('gone'))
    expect(count('failed')).toBe(1)
    expect(harness.lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([])
  })

  it('are dropped and counted beyond the limit, until some are written', async () => {
    const { harness, producer, count } = await started()
    const deliver = async (from: number, to: number): Promise<void> => {
      for (let index = from; index < to; index++)
        harness.write({ message: trackMessage(`m${index}`, { userId: `u${index}` }) })
      await harness.advance(1_000)
    }
    await deliver(0, 5_002)
    expect(producer.waiting).toHaveLength(5_000)
    expect(count('dropped')).toBe(2)
    expect(harness.count('deliveries{crm,delivered}')).toBe(5_002)
    producer.answer(undefined, 1)
    await deliver(5_002, 5_004)
    expect(producer.waiting).toHaveLength(5_000)
    expect(count('dropped')).toBe(3)
  })
})
