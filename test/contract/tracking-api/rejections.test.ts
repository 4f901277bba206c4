import { gzipSync } from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import type { RejectionCode } from '../../../src/core/message/message.ts'
import type { RefusalCode } from '../../../src/core/message/request-refusal.ts'
import { type ExpectedAnswer, expectAnswer, problem } from '../../support/collector/cases.ts'
import { asWeb, page, serveCollector } from '../../support/collector/served-collector.ts'

const { collector, exchange } = serveCollector()

describe('requests that are refused completely', () => {
  it.each<[string, unknown, number, RefusalCode, string?]>([
    ['nothing', '', 400, 'invalid_json'],
    ['white space', ' \n', 400, 'invalid_json'],
    ['not JSON', 'hello', 400, 'invalid_json'],
    ['an incomplete batch', '{"batch":[{"type":"page","userId":"u"}', 400, 'invalid_json'],
    ['a form', 'data=%7B%22batch%22%3A%5B%5D%7D', 400, 'invalid_json'],
    ['a number', '1', 400, 'invalid_body'],
    ['a string', '"batch"', 400, 'invalid_body'],
    ['null', 'null', 400, 'invalid_body'],
    ['an object without a batch', '{}', 400, 'invalid_body'],
    ['a batch that is not a list', '{"batch":{}}', 400, 'invalid_body'],
    ['a list on a path for one message', '[]', 400, 'invalid_body', '/v1/track'],
    ['not JSON on a path for one message', '{"userId":NaN}', 400, 'invalid_json', '/v1/track'],
    ['a batch with a context of 40 KB', { batch: [], context: { x: 'y'.repeat(40_000) } }, 413, 'payload_too_large'],
    ['10,001 messages', { batch: Array.from({ length: 10_001 }, () => 1) }, 413, 'payload_too_large'],
    ['a body of 4 MiB and one byte', gzipSync(`"${'x'.repeat(4_194_303)}"`), 413, 'payload_too_large'],
  ])('%s', async (_, body, status, code, path = '/v1/batch') => {
    const answer = await exchange(body, path)
    expectAnswer(answer, problem(status, code))
    expect(collector.events()).toEqual([])
  })
})

describe('messages that are rejected while the others are stored', () => {
  const rejects: [string, string, RejectionCode][] = [
    ['not JSON: Python’s NaN', '{"type":"track","userId":"u","event":"e","properties":{"x":NaN}}', 'invalid_json'],
    ['Python’s Infinity', '{"type":"page","userId":"u","properties":{"x":-Infinity}}', 'invalid_json'],
    ['not an object', '7', 'not_an_object'],
    ['null', 'null', 'not_an_object'],
    ['no type', '{"userId":"u"}', 'unknown_type'],
    ['a type that SDKs do not have', '{"type":"delete","userId":"u"}', 'unknown_type'],
    ['nobody', '{"type":"identify"}', 'missing_id'],
    ['an empty user id', '{"type":"page","userId":""}', 'missing_id'],
    ['track without an event', '{"type":"track","userId":"u"}', 'missing_event'],
    ['group without a group id', '{"type":"group","userId":"u"}', 'missing_group_id'],
    ['alias without a user', '{"type":"alias","previousId":"p"}', 'missing_user_id'],
    ['alias without the previous id', '{"type":"alias","userId":"u"}', 'missing_previous_id'],
    [
      'a day that does not exist',
      '{"type":"page","userId":"u","timestamp":"2015-02-30T10:00:00Z"}',
      'invalid_timestamp',
    ],
    [
      'over 32,768 bytes',
      `{"type":"page","userId":"u","properties":{"x":"${'y'.repeat(32_768)}"}}`,
      'message_too_large',
    ],
    [
      'over 100 levels',
      `{"type":"page","userId":"u","properties":${'{"a":'.repeat(101)}1${'}'.repeat(101)}}`,
      'too_deep',
    ],
    ['a number too large for a double', '{"type":"page","userId":"u","properties":{"x":1e999}}', 'non_finite_number'],
  ]
  const batchOf = (message: string): string =>
    `{"batch":[${JSON.stringify(page('before'))},${message},${JSON.stringify(page('after'))}]}`

  it.each(rejects)('%s', async (_, message, code) => {
    const answer = await exchange(batchOf(message))
    const { rejected } = JSON.parse(answer.body)
    const text = rejected[0].message
    expect(text).toMatch(/\.$/)
    const expected: ExpectedAnswer = {
      status: 200,
      body: JSON.stringify({ success: true, rejected: [{ index: 1, code, message: text }] }),
    }
    expectAnswer(answer, expected)
    expect(collector.messages().map(({ messageId }) => messageId)).toEqual(['before', 'after'])
    // A message that is too long for a record is truncated in the dead-letter topic.
    expect(collector.rejects().map(each => each !== '' && message.startsWith(each))).toEqual([true])
  })

  it.each(rejects)('stores nothing in strict mode: %s', async (_, message, code) => {
    const answer = await exchange(batchOf(message), '/v1/batch', { ...asWeb, 'X-Strict-Mode': '1' })
    expectAnswer(answer, problem(400, 'rejected'))
    expect(JSON.parse(answer.body).rejected).toMatchObject([{ index: 1, code }])
    expect(collector.messages()).toEqual([])
  })

  it('rejects each message over the limit of a batch of 2,503, with its id', async () => {
    const batch = Array.from({ length: 2_503 }, (_, index) => page(`m-${index}`))
    const answer = await exchange({ batch })
    const { rejected } = JSON.parse(answer.body)
    expect(
      rejected.map((each: { index: number; messageId: string; code: string }) => [
        each.index,
        each.messageId,
        each.code,
      ]),
    ).toEqual([2_500, 2_501, 2_502].map(index => [index, `m-${index}`, 'too_many_messages']))
    expect(collector.messages()).toHaveLength(2_500)
  })
})
