import { gzipSync } from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import type { RejectionCode } from '../../../src/core/message/message-rejection.ts'
import type { RefusalCode } from '../../../src/core/message/request-refusal.ts'
import { type ExpectedAnswer, expectAnswer, problem } from '../../support/collector/raw-request-harness.ts'
import { page, serveCollector } from '../../support/collector/served-collector.ts'

const { collector, exchange } = serveCollector()

/**
 * A batch whose rejections need more memory than one source may use: 8 bytes per character of a
 * rejected id.
 */
const longIds = { batch: Array(3_900).fill({ messageId: 'x'.repeat(1_000) }) }

describe('requests that are refused completely', () => {
  it.each<[string, unknown, number, RefusalCode, string?]>([
    ['a list on a path for one message', '[]', 400, 'invalid_body', '/v1/track'],
    ['a batch with a context of 40 KB', { batch: [], context: { x: 'y'.repeat(40_000) } }, 413, 'payload_too_large'],
    ['10,001 messages', { batch: Array.from({ length: 10_001 }, () => 1) }, 413, 'payload_too_large'],
    ['rejected messages that need more memory than one source may use', longIds, 413, 'payload_too_large'],
    ['a body of 4 MiB and one byte', gzipSync(`"${'x'.repeat(4_194_303)}"`), 413, 'payload_too_large'],
  ])('%s', async (_, body, status, code, path = '/v1/batch') => {
    const answer = await exchange(body, path)
    expectAnswer(answer, problem(status, code))
    expect(collector.events()).toEqual([])
  })
})

describe('messages that are rejected while the others are stored', () => {
  const batchOf = (message: string): string =>
    `{"batch":[${JSON.stringify(page('before'))},${message},${JSON.stringify(page('after'))}]}`

  it.each<[string, string, RejectionCode]>([
    ['not JSON: Python’s NaN', '{"type":"track","userId":"u","event":"e","properties":{"x":NaN}}', 'invalid_json'],
    ['a type that SDKs do not have', '{"type":"delete","userId":"u"}', 'unknown_type'],
    [
      'over 32,768 bytes',
      `{"type":"page","userId":"u","properties":{"x":"${'y'.repeat(32_768)}"}}`,
      'message_too_large',
    ],
  ])('%s', async (_, message, code) => {
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
    // The rejected topic has only the beginning of a message that is too long for a record.
    expect(collector.rejects().map(each => each !== '' && message.startsWith(each))).toEqual([true])
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
