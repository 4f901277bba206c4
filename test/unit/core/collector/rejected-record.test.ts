import { describe, expect, it } from '@jest/globals'
import { type RejectedRecord, rejectedRecord } from '../../../../src/core/collector/rejected-record.ts'
import { epochMs } from '../../../../src/core/time.ts'

const rejected: RejectedRecord = {
  index: 3,
  messageId: 'm-1',
  code: 'missing_event',
  message: "You must pass 'event'.",
  source: 'web',
  receivedAt: epochMs(1_764_000_000_500),
  text: '{"type":"track"}',
}
const written = (change: Partial<RejectedRecord>) => {
  const { key, value } = rejectedRecord({ ...rejected, ...change })
  return { key: key?.toString(), text: JSON.parse(String(value)).text as string }
}

it('contains the source, the message and the error', () => {
  expect(rejectedRecord(rejected)).toEqual({
    key: Buffer.from('m-1'),
    value: Buffer.from(
      `{"source":"web","code":"missing_event","message":"You must pass 'event'.","index":3,"messageId":"m-1","receivedAt":1764000000500,"text":"{\\"type\\":\\"track\\"}"}`,
    ),
    headers: {},
  })
})

describe('key', () => {
  it.each([
    ['none without an id', undefined, undefined],
    ['its hash when the id is too long', 'x'.repeat(101), expect.stringMatching(/^sha256:[0-9a-f]{64}$/)],
  ])('%s', (_, messageId, expected) => {
    expect(written({ messageId }).key).toEqual(expected)
  })
})

describe('a write key in the text', () => {
  it.each([
    ['is masked', '{"writeKey":"w-1","type":"track"}', '{"writeKey":"***","type":"track"}'],
    ['after spaces', '{"writeKey" :\n "w-1"}', '{"writeKey" :\n "***"}'],
    ['with escaped characters', String.raw`{"writeKey":"w\"1\\","a":"b"}`, '{"writeKey":"***","a":"b"}'],
    ['twice', '[{"writeKey":"w-1"},{"writeKey":"w-2"}]', '[{"writeKey":"***"},{"writeKey":"***"}]'],
    ['without an end', '{"writeKey":"w-', '{"writeKey":"***"'],
    ['cut after a backslash', String.raw`{"writeKey":"w-\\`.slice(0, -1), '{"writeKey":"***"'],
    ['that is no string', '{"writeKey":7}', '{"writeKey":7}'],
  ])('%s', (_, text, expected) => {
    expect(written({ text }).text).toBe(expected)
  })

  it('is masked where the text is cut', () => {
    const text = `${' '.repeat(32_750)}{"writeKey":"w-1-of-the-shop"}`
    expect(written({ text }).text.trim()).toBe('{"writeKey":"***"')
  })
})

describe('text', () => {
  it.each([
    ['whole at 32,768 bytes', 'x'.repeat(32_768), 32_768],
    ['cut after 32,768 bytes', 'x'.repeat(32_769), 32_768],
    ['never half a character', `x${'é'.repeat(20_000)}`, 32_767],
    ['never half a character of four bytes', `xxx${'😀'.repeat(20_000)}`, 32_767],
    ['never half a character that would just fit', `${'x'.repeat(32_766)}😀`, 32_766],
    ['of any length', 'x'.repeat(5_000_000), 32_768],
  ])('%s', (_, text, bytes) => {
    const shown = written({ text }).text
    expect(text.startsWith(shown)).toBe(true)
    expect(Buffer.byteLength(shown)).toBe(bytes)
  })
})
