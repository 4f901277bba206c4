import { describe, expect, it } from '@jest/globals'
import { KafkaError, kafkaError, topicMissing } from '../../../../../src/adapters/kafka/kafkajs/errors.ts'
import { internal } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'

type Errors = Record<string, new (...args: unknown[]) => Error>
const errors = internal<Errors>('errors')
const make = (name: string, ...args: unknown[]): Error => new (errors[name] as Errors[string])(...args)
const protocol = (type: string, retriable: boolean): Error =>
  make('KafkaJSProtocolError', { message: type, type, code: 3, retriable })

describe('what kafkajs throws', () => {
  it.each([
    {
      name: 'an answer of the broker',
      thrown: protocol('MESSAGE_TOO_LARGE', false),
      code: 'MESSAGE_TOO_LARGE',
      retriable: false,
    },
    {
      name: 'the last of many tries: what they failed with, which may well pass',
      thrown: make('KafkaJSNumberOfRetriesExceeded', protocol('LEADER_NOT_AVAILABLE', true), {
        retryCount: 5,
        retryTime: 1,
      }),
      code: 'LEADER_NOT_AVAILABLE',
      retriable: true,
    },
    {
      name: 'a list',
      thrown: make('KafkaJSAggregateError', 'several', [protocol('INVALID_CONFIG', false)]),
      code: 'INVALID_CONFIG',
      retriable: false,
    },
    {
      name: 'a connection that is refused',
      thrown: make('KafkaJSConnectionError', 'connect ECONNREFUSED', { broker: 'b:1', code: 'ECONNREFUSED' }),
      code: 'ECONNREFUSED',
      retriable: true,
    },
    {
      name: 'no answer in time',
      thrown: make('KafkaJSRequestTimeoutError', 'slow'),
      code: 'REQUEST_TIMEOUT',
      retriable: true,
    },
    { name: 'a bug', thrown: new TypeError('x is undefined'), code: 'TYPE', retriable: false },
    { name: 'no error at all', thrown: 'text', code: 'ERROR', retriable: false },
  ])('$name', ({ thrown, code, retriable }) => {
    const error = kafkaError('topic x cannot be read', thrown)
    expect(error).toMatchObject({ name: 'KafkaError', code, retriable, cause: thrown })
    expect(error.message).toMatch(/^topic x cannot be read: ./)
  })
})

it('a KafkaError passes through', () => {
  const own = topicMissing('events')
  expect(kafkaError('anything', own)).toBe(own)
  expect(own).toBeInstanceOf(KafkaError)
  expect(own).toMatchObject({ code: 'TOPIC_MISSING', message: 'topic events does not exist', retriable: false })
})
