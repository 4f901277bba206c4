import { describe, expect, it } from '@jest/globals'
import { identifyOf } from '../../../../src/core/audience/changes.ts'
import { deleteMessagesOf } from '../../../../src/core/deletion/deletion-request.ts'
import type { JsonText } from '../../../../src/core/units.ts'
import { type DeliveryResult, reportOf } from '../../../../src/services/dispatcher/report.ts'
import { eventOf, start } from '../../../support/dispatcher/deliveries.ts'

const identify = identifyOf(
  { audience: 'Score', userId: 'ann', destination: 'crm' },
  'score',
  { version: 7, value: '"gold"' as JsonText },
  start,
)
const [deletion] = deleteMessagesOf(
  { userIds: ['ann'], sources: undefined, suppress: false },
  { id: 'd-1', createdAt: start, users: 1, isSuppressed: false, sources: [{ id: 'web', destinations: ['crm'] }] },
)

describe('every result of an audience identify is reported, drops included', () => {
  it.each<[DeliveryResult, string]>([
    ['delivered', 'delivered'],
    ['retries_exhausted', 'undelivered'],
    ['http_4xx', 'undelivered'],
    ['unknown_destination', 'undelivered'],
    ['disabled', 'undelivered'],
    ['user_deleted', 'undelivered'],
  ])('%s: %s', (end, result) => {
    expect(reportOf(identify, 'crm', end)).toEqual({
      kind: 'audience',
      input: {
        kind: 'outcome',
        audience: 'Score',
        userId: 'ann',
        destination: 'crm',
        version: 7,
        value: '"gold"',
        result,
      },
    })
  })
})

describe('every result of a delete is reported to its deletion', () => {
  it.each<[DeliveryResult, object]>([
    ['delivered', { result: 'delivered', reason: undefined }],
    ['retry_window_over', { result: 'undelivered', reason: 'retry_window_over' }],
    ['disabled', { result: 'undelivered', reason: 'disabled' }],
  ])('%s', (end, expected) => {
    expect(deletion && reportOf(deletion, 'crm', end)).toEqual({
      kind: 'deletion',
      outcome: { request: 'd-1', source: 'web', destination: 'crm', userId: 'ann', ...expected },
    })
  })
})

it('events from SDKs are not reported', () => {
  expect(reportOf(eventOf(), 'crm', 'delivered')).toBeUndefined()
})
