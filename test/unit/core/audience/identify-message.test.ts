import { describe, expect, it } from '@jest/globals'
import { changeId, identifyOf, valueIn } from '../../../../src/core/audience/identify-message.ts'
import type { JsonText } from '../../../../src/core/message/canonical-json-text.ts'
import { start } from '../../../support/builders.ts'

const key = { audience: 'Score', userId: 'ann', destination: 'crm' }
const change = { version: 7, value: '1' as JsonText }

describe('the id of a change', () => {
  it('never changes, because receivers recognise the event by it', () => {
    expect(changeId(key, change)).toBe('audience-d0c3eb92c1202176de5206f056c42abcb870ecd9')
  })
  it.each([
    ['another audience', { ...key, audience: 'Rank' }, change],
    ['another user', { ...key, userId: 'bob' }, change],
    ['another destination', { ...key, destination: 'erp' }, change],
    ['another version', key, { ...change, version: 8 }],
    ['another value', key, { ...change, value: '2' as JsonText }],
  ])('is another one for %s', (_name, ...other) => {
    expect(changeId(...other)).not.toBe(changeId(key, change))
  })
})

it.each(['true', 'null', '"a\\"b"', '[1,"x"]'])('the value %s is read back from the message', value => {
  const { message } = identifyOf(key, 'größe', { version: 1, value: value as JsonText }, start)
  expect(message.traits).toBe(`{"größe":${value}}`)
  expect(valueIn(message.traits)).toBe(value)
})

it('a message without traits has no value', () => {
  expect(valueIn(undefined)).toBe('null')
})
