import { describe, expect, it, jest } from '@jest/globals'
import kafkajs from 'kafkajs'
import { KafkaError, toKafkaError, topicMissing } from '../../../../src/adapters/kafka/kafkajs/errors.ts'
import { awaitKafka } from '../../../../src/app/compose/await-kafka.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'

const answered = (type: string, retriable: boolean): Error =>
  new kafkajs.KafkaJSProtocolError(Object.assign(new Error(type), { type, code: 1, retriable }))

/** Returns a function that rejects with each of these errors, one per call, and then resolves. */
function failingWith(...errors: readonly unknown[]) {
  const left = [...errors]
  return jest.fn(async () => {
    if (left.length > 0) throw left.shift()
    return 'ready'
  })
}

async function asked(ask: () => Promise<string>, signal = new AbortController().signal) {
  const logger = new RecordingLogger()
  const end = await awaitKafka(ask, { logger, stopAsked: signal }).catch((error: unknown) => error)
  return { end, logged: logger.lines.length }
}

describe('a start that needs Kafka', () => {
  // Concurrent, because each case waits for two real intervals of 2 s.
  it.concurrent.each<[string, unknown]>([
    ['a partition has no leader', answered('LEADER_NOT_AVAILABLE', true)],
    ['a broker is not the leader yet', toKafkaError('cannot read topic t', answered('NOT_LEADER_FOR_PARTITION', true))],
    ['no group coordinator is known', answered('GROUP_COORDINATOR_NOT_AVAILABLE', true)],
    ['no broker responds', new KafkaError('cannot list topics', { code: 'ECONNREFUSED', retriable: true })],
  ])('is repeated while %s', async (_, error) => {
    const ask = failingWith(error, error)
    expect(await asked(ask)).toEqual({ end: 'ready', logged: 1 })
    expect(ask).toHaveBeenCalledTimes(3)
  })

  it.each<[string, Error]>([
    ['a missing right', toKafkaError('cannot read topic t', answered('TOPIC_AUTHORIZATION_FAILED', false))],
    ['a missing topic', topicMissing('t')],
    ['a bug', new TypeError('x is undefined')],
  ])('ends with %s', async (_, error) => {
    const ask = failingWith(error)
    expect(await asked(ask)).toEqual({ end: error, logged: 0 })
    expect(ask).toHaveBeenCalledTimes(1)
  })

  it('ends when the process must stop', async () => {
    const control = new AbortController()
    const ended = asked(() => new Promise(() => undefined), control.signal)
    control.abort(new Error('stop'))
    expect(await ended).toEqual({ end: new Error('stop'), logged: 0 })
  })
})
