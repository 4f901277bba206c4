import { describe, expect, it } from '@jest/globals'
import type { Message, ProducerRecord } from 'kafkajs'
import { createProducer } from '../../../../../src/adapters/kafka/producer/producer.ts'
import type { LogProducer } from '../../../../../src/core/ports.ts'
import { type Send, scriptedKafkajs, storedResponse as stored } from '../../../../support/kafka/scripted-kafkajs.ts'
import { ManualClock, turns } from '../../../../support/manual-clock.ts'
import { silent } from '../../../../support/telemetry/silent-logger.ts'

function setUp(send: Send) {
  const clock = new ManualClock()
  const requests: ProducerRecord[] = []
  const kafka = scriptedKafkajs(request => {
    requests.push(request)
    return send(request)
  })
  const producer = createProducer({ kafka, clock, logger: silent, prefersLargeBatches: topic => topic === 'patient' })
  return { producer, requests, linger: () => clock.advance(10, turns) }
}

function append(to: LogProducer, partition: number, value = 'x', topic = 'topic'): { answer: string | undefined } {
  const result: { answer: string | undefined } = { answer: undefined }
  to.append(topic, { key: null, value: Buffer.from(value), headers: {}, partition }, error => {
    result.answer = error === undefined ? 'stored' : (error as Error & { code: string }).code
  })
  return result
}

const valuesOf = ({ messages }: ProducerRecord): string => messages.map(({ value }: Message) => String(value)).join()

describe('the response to a request must contain its partition', () => {
  it.each([
    { name: 'its own partition', answer: [{ topicName: 'topic', partition: 0, errorCode: 0 }], expected: 'stored' },
    { name: 'no partition', answer: [], expected: 'UNANSWERED' },
    { name: 'another partition', answer: [{ topicName: 'topic', partition: 1, errorCode: 0 }], expected: 'UNANSWERED' },
    { name: 'another topic', answer: [{ topicName: 'other', partition: 0, errorCode: 0 }], expected: 'UNANSWERED' },
    { name: 'an error', answer: [{ topicName: 'topic', partition: 0, errorCode: 7 }], expected: 'UNANSWERED' },
  ])('$name', async ({ answer, expected }) => {
    const { producer, linger } = setUp(async () => answer)
    const result = append(producer, 0)
    await linger()
    expect(result.answer).toBe(expected)
  })
})

it('a request contains the records of one partition in order', async () => {
  const { producer, requests, linger } = setUp(async request => stored(request))
  for (const [partition, value] of [
    [0, 'a'],
    [1, 'b'],
    [0, 'c'],
    [1, 'd'],
  ] as const)
    append(producer, partition, value)
  await linger()
  expect(requests.map(valuesOf)).toEqual(['a,c', 'b,d'])
  expect(requests.map(({ messages }) => messages.map(({ partition }) => partition))).toEqual([
    [0, 0],
    [1, 1],
  ])
  expect(requests.every(({ acks }) => acks === -1)).toBe(true)
})

it('a partition has one request at a time; records queued during it share the next one', async () => {
  const answers: (() => void)[] = []
  const { producer, requests, linger } = setUp(
    request => new Promise(resolve => answers.push(() => resolve(stored(request)))),
  )
  append(producer, 0, 'a')
  await linger()
  append(producer, 0, 'b')
  append(producer, 0, 'c')
  append(producer, 1, 'other')
  await linger()
  expect(requests.map(valuesOf)).toEqual(['a', 'other'])
  answers[0]?.()
  await turns()
  expect(requests.map(valuesOf)).toEqual(['a', 'other', 'b,c'])
})

it('a full batch does not linger', async () => {
  const { producer, requests, linger } = setUp(async request => stored(request))
  append(producer, 0)
  await linger()
  for (let index = 0; index < 1_000; index++) append(producer, 0)
  await turns()
  expect(requests.map(({ messages }) => messages.length)).toEqual([1, 1_000])
})

it('records of a topic with large batches linger longer and delay no other topic', async () => {
  const { producer, requests, linger } = setUp(async request => stored(request))
  append(producer, 0, 'a', 'patient')
  append(producer, 0, 'b')
  await linger()
  append(producer, 0, 'c', 'patient')
  expect(requests.map(valuesOf)).toEqual(['b'])
  await linger()
  await linger()
  expect(requests.map(valuesOf)).toEqual(['b', 'a,c'])
})

describe('records of a topic with large batches', () => {
  /**
   * Appends to `patient`, a topic with large batches, for which the producer does not choose the
   * partition by key.
   */
  const park = (to: LogProducer, user: string): void =>
    to.append('patient', { key: Buffer.from(user), value: Buffer.from(user), headers: {} }, () => {})
  const placeOf = ({ messages }: ProducerRecord) => messages[0]?.partition

  it('share a request whatever their keys, and the next request goes to the next partition', async () => {
    const { producer, requests, linger } = setUp(async request => stored(request))
    for (const users of ['abcdefgh', 'ijkl', 'mnop', 'qrst']) {
      for (const user of users) park(producer, user)
      await linger()
      await linger()
    }
    expect(requests.map(valuesOf)).toEqual(['a,b,c,d,e,f,g,h', 'i,j,k,l', 'm,n,o,p', 'q,r,s,t'])
    expect(requests.map(placeOf)).toEqual([0, 1, 2, 0])
  })

  it('avoid a partition whose leader does not respond, unless none does', async () => {
    const silentOnes = new Set([1])
    const { producer, requests, linger } = setUp(async request =>
      silentOnes.has(placeOf(request) as number) ? new Promise(() => {}) : stored(request),
    )
    for (const user of 'abcde') {
      park(producer, user)
      await linger()
      await linger()
    }
    expect(requests.map(placeOf)).toEqual([0, 1, 2, 0, 2])
    for (const place of [0, 2]) silentOnes.add(place)
    for (const user of 'fghi') {
      park(producer, user)
      await linger()
      await linger()
    }
    // Each of the three partitions has a request without a response, so `h` and `i` must wait.
    expect(requests.map(placeOf).slice(5)).toEqual([0, 2])
  })
})

it('a flush does not wait for the linger', async () => {
  const { producer, requests, linger } = setUp(async request => stored(request))
  append(producer, 0, 'first', 'patient')
  await linger()
  await linger()
  const results = [append(producer, 0, 'a', 'patient'), append(producer, 0, 'b', 'patient')]
  await producer.flush()
  expect(requests.map(valuesOf)).toEqual(['first', 'a,b'])
  expect(results.map(({ answer }) => answer)).toEqual(['stored', 'stored'])
})

it('an invalid record does not fail the others of its batch', async () => {
  const { producer, requests, linger } = setUp(async request => {
    if (valuesOf(request).includes('bad'))
      throw Object.assign(new Error('no'), { type: 'INVALID_RECORD', retriable: false })
    return stored(request)
  })
  const results = ['a', 'b', 'bad', 'c', 'd'].map(value => append(producer, 0, value))
  await linger()
  expect(results.map(({ answer }) => answer)).toEqual(['stored', 'stored', 'INVALID_RECORD', 'stored', 'stored'])
  expect(requests.map(valuesOf)).toEqual(['a,b,bad,c,d', 'a,b,bad', 'a,b', 'bad', 'c,d'])
})

it('an error fails only the records of its request', async () => {
  let isDown = true
  const { producer, linger } = setUp(async request => {
    if (isDown) throw Object.assign(new Error('gone'), { type: 'LEADER_NOT_AVAILABLE', retriable: true })
    return stored(request)
  })
  const first = append(producer, 0)
  await linger()
  isDown = false
  const second = append(producer, 0)
  await linger()
  expect([first.answer, second.answer]).toEqual(['LEADER_NOT_AVAILABLE', 'stored'])
})

it('a record whose maySend returns false is not sent, and its callback gets an error', async () => {
  const answers: (() => void)[] = []
  const { producer, requests, linger } = setUp(
    request => new Promise(resolve => answers.push(() => resolve(stored(request)))),
  )
  let isOurs = true
  const results: (string | undefined)[] = []
  const add = (value: string, maySend?: () => boolean): void => {
    const record = { key: null, value: Buffer.from(value), headers: {}, partition: 0, ...(maySend && { maySend }) }
    producer.append('topic', record, error => {
      results.push(error === undefined ? value : `${value} ${(error as Error & { code: string }).code}`)
    })
  }
  add('a', () => isOurs)
  await linger()
  // `b`, `c` and `d` wait for the response to `a`, so `isOurs` can change before they are sent.
  add('b', () => isOurs)
  add('c')
  add('d', () => isOurs)
  await linger()
  isOurs = false
  answers[0]?.()
  await turns()
  answers[1]?.()
  await turns()
  expect(requests.map(valuesOf)).toEqual(['a', 'c'])
  expect(results).toEqual(['a', 'b HELD_BACK', 'd HELD_BACK', 'c'])
})
