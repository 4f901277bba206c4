import { describe, expect, it } from '@jest/globals'
import { KafkaError, toKafkaError, topicMissing } from '../../../../../src/adapters/kafka/kafkajs/errors.ts'
import { internal } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'

type Errors = Record<string, new (...args: unknown[]) => Error>
const errors = internal<Errors>('errors')
const make = (name: string, ...args: unknown[]): Error => new (errors[name] as Errors[string])(...args)
const protocol = (type: string, retriable: boolean): Error =>
  make('KafkaJSProtocolError', { message: type, type, code: 3, retriable })
const lockTimeout = make('KafkaJSLockTimeout', 'Timeout while acquiring lock (1 waiting locks)')

describe('toKafkaError converts', () => {
  it.each<[string, thrown: unknown, code: string, retriable: boolean]>([
    ['an error response of a broker', protocol('MESSAGE_TOO_LARGE', false), 'MESSAGE_TOO_LARGE', false],
    [
      'an error after all retries to its cause',
      make('KafkaJSNumberOfRetriesExceeded', protocol('LEADER_NOT_AVAILABLE', true), { retryCount: 5, retryTime: 1 }),
      'LEADER_NOT_AVAILABLE',
      true,
    ],
    [
      'a list of errors to the first one',
      make('KafkaJSAggregateError', 'several', [protocol('INVALID_CONFIG', false)]),
      'INVALID_CONFIG',
      false,
    ],
    [
      'a refused connection',
      make('KafkaJSConnectionError', 'connect ECONNREFUSED', { broker: 'b:1', code: 'ECONNREFUSED' }),
      'ECONNREFUSED',
      true,
    ],
    ['a request timeout', make('KafkaJSRequestTimeoutError', 'slow'), 'REQUEST_TIMEOUT', true],
    [
      'a timeout while another request connects to the same broker',
      make('KafkaJSNonRetriableError', lockTimeout, { cause: lockTimeout }),
      'LOCK_TIMEOUT',
      true,
    ],
    ['an error of JavaScript', new TypeError('x is undefined'), 'TYPE', false],
    ['a thrown text', 'text', 'ERROR', false],
  ])('%s', (_, thrown, code, retriable) => {
    const error = toKafkaError('cannot read topic x', thrown)
    expect(error).toMatchObject({ name: 'KafkaError', code, retriable, cause: thrown })
    expect(error.message).toMatch(/^cannot read topic x: ./)
  })
})

it('toKafkaError returns a KafkaError unchanged', () => {
  const own = topicMissing('events')
  expect(toKafkaError('anything', own)).toBe(own)
  expect(own).toBeInstanceOf(KafkaError)
  expect(own).toMatchObject({ code: 'TOPIC_MISSING', message: 'topic events does not exist', retriable: false })
})
