import { describe, expect, it } from '@jest/globals'
import { KafkaError, toKafkaError, topicMissing } from '../../../../../src/adapters/kafka/kafkajs/errors.ts'
import { internal } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'

type Errors = Record<string, new (...args: unknown[]) => Error>
const errors = internal<Errors>('errors')
const make = (name: string, ...args: unknown[]): Error => new (errors[name] as Errors[string])(...args)
const protocol = (type: string, retriable: boolean): Error =>
  make('KafkaJSProtocolError', { message: type, type, code: 3, retriable })

describe('toKafkaError converts', () => {
  it.each([
    {
      name: 'an error response of a broker',
      thrown: protocol('MESSAGE_TOO_LARGE', false),
      code: 'MESSAGE_TOO_LARGE',
      retriable: false,
    },
    {
      name: 'an error after all retries to its cause',
      thrown: make('KafkaJSNumberOfRetriesExceeded', protocol('LEADER_NOT_AVAILABLE', true), {
        retryCount: 5,
        retryTime: 1,
      }),
      code: 'LEADER_NOT_AVAILABLE',
      retriable: true,
    },
    {
      name: 'a list of errors to the first one',
      thrown: make('KafkaJSAggregateError', 'several', [protocol('INVALID_CONFIG', false)]),
      code: 'INVALID_CONFIG',
      retriable: false,
    },
    {
      name: 'a refused connection',
      thrown: make('KafkaJSConnectionError', 'connect ECONNREFUSED', { broker: 'b:1', code: 'ECONNREFUSED' }),
      code: 'ECONNREFUSED',
      retriable: true,
    },
    {
      name: 'a request timeout',
      thrown: make('KafkaJSRequestTimeoutError', 'slow'),
      code: 'REQUEST_TIMEOUT',
      retriable: true,
    },
    { name: 'an error of JavaScript', thrown: new TypeError('x is undefined'), code: 'TYPE', retriable: false },
    { name: 'a thrown text', thrown: 'text', code: 'ERROR', retriable: false },
  ])('$name', ({ thrown, code, retriable }) => {
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
