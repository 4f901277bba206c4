import { describe, expect, it } from '@jest/globals'
import { type FailureState, withoutFailures } from '../../../../src/core/auto-disable/judge-failures.ts'
import {
  changeOfFailures,
  disablingOf,
  failureRecord,
  failureStateIn,
} from '../../../../src/core/config-objects/destination-failure-record.ts'
import { decodeRecord, encodeRecord, encodeValue } from '../../../../src/core/config-objects/object-record.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { start } from '../../../support/builders.ts'

const healthy = withoutFailures({ urls: 'aaaaaaaa', version: 4 })
const failing: FailureState = { ...healthy, failingSince: start, attempts: 3, gone: ['a'] }
const disabled: FailureState = {
  ...failing,
  disabled: { at: epochMs(start + 1), reason: 'gone', failingSince: start },
}
const recordOf = (state: FailureState, before?: FailureState) =>
  failureRecord({ id: 'crm', by: 'ada', at: start, writeId: 'w', state, known: undefined, before })

describe('a record of the failures of a destination', () => {
  it.each([
    ['without failures', healthy],
    ['failing', failing],
    ['disabled', disabled],
  ])('%s is read as it was written', (_, state) => {
    const { key, value, headers = {} } = encodeRecord(recordOf(state))
    expect(key?.toString()).toBe('failures/crm')
    const decoded = decodeRecord(key, value, headers)
    expect(decoded).toMatchObject({ kind: 'record', record: { kind: 'failures', id: 'crm', version: 1 } })
    expect(decoded.kind === 'record' && failureStateIn(decoded.record)).toEqual(state)
  })

  it.each([
    ['a deletion', undefined],
    ['no JSON', '{'],
    ['another format', JSON.stringify({ format: 2, document: healthy })],
    ['no URLs', encodeValue({ version: 1, attempts: 1 })],
    ['a negative number', encodeValue({ urls: '', version: 1, attempts: -1 })],
  ])('%s is not read', (_, value) => {
    expect(failureStateIn({ value })).toBeUndefined()
  })

  it('damaged parts are left out', () => {
    const value = encodeValue({ ...failing, attempts: 999, gone: [1, 'b'], disabled: { at: 1, reason: 'other' } })
    expect(failureStateIn({ value })).toEqual({ ...failing, attempts: 20, gone: ['b'] })
  })

  it.each([
    ['the first failure', failing, undefined, undefined],
    ['a counted attempt', { ...failing, attempts: 4 }, failing, undefined],
    ['the automatic disabling', disabled, failing, { kind: 'destination', version: 4, fields: ['enabled'] }],
    ['its end', healthy, disabled, { kind: 'destination', version: 4, fields: ['enabled'] }],
  ])('the change in %s', (_, state, before, expected) => {
    const change = changeOfFailures(recordOf(state, before))
    if (expected === undefined) expect(change).toBeUndefined()
    else expect(change).toMatchObject(expected)
  })
})

it('disables only the webhooks for which it was written', () => {
  const webhook = { label: '0', url: 'https://a.example', urlHash: 'aaaaaaaa', headers: {}, traceHeaders: false }
  expect(disablingOf({ webhooks: [webhook] }, disabled)).toBe(disabled.disabled)
  expect(disablingOf({ webhooks: [{ ...webhook, urlHash: 'bbbbbbbb' }] }, disabled)).toBeUndefined()
  expect(disablingOf({ webhooks: [webhook] }, failing)).toBeUndefined()
})
