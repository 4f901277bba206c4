import { describe, expect, it, jest } from '@jest/globals'
import {
  addResults,
  type DestinationActivity,
  decodeActivity,
  decodeKey,
  decodeProcess,
  encodeActivity,
  encodeKey,
  encodeProcess,
  encodeResults,
  periodOf,
  type StatusKey,
} from '../../../../src/core/live-status/status-record.ts'
import { epochMs } from '../../../../src/core/time.ts'

const at = epochMs(1_795_248_000_000)
const none = () => ({ delivered: 0, failed: 0, deadLettered: 0, dropped: 0 })

describe('the key of a status record', () => {
  it.each<[string, StatusKey]>([
    ['process/pod-1', { kind: 'process', instance: 'pod-1' }],
    ['activity/pod-1/63', { kind: 'activity', instance: 'pod-1', shard: 63 }],
    ['results/pod-1/1795248000000/0', { kind: 'results', instance: 'pod-1', start: at, shard: 0 }],
  ])('names what the record replaces: %s', (text, key) => {
    expect(encodeKey(key)).toBe(text)
    expect(decodeKey(text)).toEqual(key)
  })

  it.each([
    '',
    'process/',
    'process/a/b',
    'activity/a',
    'activity/a/x',
    'results/a/1',
    'later/a',
    `process/${'a'.repeat(101)}`,
  ])('of another form is ignored: %j', text => expect(decodeKey(text)).toBeUndefined())
})

describe('the value of a status record', () => {
  it('has what a process says about itself', () => {
    const rates = { admitted: 1.5, delivered: 1, failed: 0.5 }
    const facts = { services: ['dispatcher'] as const, version: '1.2.3', startedAt: at, partitions: 6, rates }
    expect(decodeProcess(Buffer.from(encodeProcess(facts)))).toEqual(facts)
  })

  it.each<[string, string, object]>([
    ['without fields', '{}', {}],
    ['with unknown fields', '{"partitions":2,"later":{}}', { partitions: 2 }],
    ['with wrong types', '{"services":"all","version":7,"startedAt":"now","partitions":-1,"rates":[]}', {}],
    ['with a time that is none', '{"startedAt":8640000000000001}', {}],
  ])('of another version counts as far as it is known: %s', (_name, text, known) => {
    const rates = { admitted: 0, delivered: 0, failed: 0 }
    const absent = { services: [], version: '', startedAt: 0, partitions: 0, rates }
    expect(decodeProcess(Buffer.from(text))).toEqual({ ...absent, ...known })
  })

  it.each(['', 'no JSON', 'null', '[]', '7'])('that is no object is ignored: %j', text => {
    expect(decodeProcess(Buffer.from(text))).toBeUndefined()
    expect(decodeActivity(Buffer.from(text)).size).toBe(0)
    const sum = none()
    addResults(sum, Buffer.from(text), 'crm')
    expect(sum).toEqual(none())
  })

  it('leaves out what is at rest, and has the rest of each destination', () => {
    const open = { breaker: 'open', nextProbeAt: at, requestsInProgress: 0, inMemory: 7, pace: undefined } as const
    const slow: DestinationActivity = {
      breaker: 'closed',
      nextProbeAt: undefined,
      requestsInProgress: 2,
      inMemory: 0,
      pace: 3.5,
      pausedUntil: at,
    }
    const text = encodeActivity([
      ['crm', open],
      ['__proto__', slow],
    ])
    expect(text).toBe(
      `{"crm":{"breaker":"open","nextProbeAt":${at},"inMemory":7},"__proto__":{"requestsInProgress":2,"pace":3.5,"pausedUntil":${at}}}`,
    )
    expect([...decodeActivity(Buffer.from(text))]).toEqual([
      ['crm', open],
      ['__proto__', slow],
    ])
  })

  it.each<[string, string]>([
    ['of an earlier version, without a pause', '{"crm":{"inMemory":7}}'],
    ['with a pause of another type', '{"crm":{"inMemory":7,"pausedUntil":"soon"}}'],
    ['of a later version, with an unknown field', '{"crm":{"inMemory":7,"later":1}}'],
  ])('has the activity %s', (_name, text) => {
    expect([...decodeActivity(Buffer.from(text))]).toEqual([
      ['crm', { breaker: 'closed', requestsInProgress: 0, inMemory: 7 }],
    ])
  })

  it('has the results of each destination', () => {
    const counts = { delivered: 4, failed: 3, deadLettered: 2, dropped: 1 }
    const value = Buffer.from(encodeResults([['crm', counts]]))
    const sum = { ...counts }
    addResults(sum, value, 'crm')
    addResults(sum, value, 'toString')
    expect(sum).toEqual({ delivered: 8, failed: 6, deadLettered: 4, dropped: 2 })
  })

  it('has the results of each of many destinations, which are found without decoding all of them', () => {
    const ids = [
      'first',
      'prefix-crm',
      'crm-suffix',
      'a"crm',
      'a,"crm',
      '{"crm":[',
      'crm',
      'é"\\u',
      '__proto__',
      'last',
    ]
    const countsOf = (id: string) => ({ ...none(), delivered: ids.indexOf(id) + 1 })
    const value = Buffer.from(encodeResults(ids.map(id => [id, countsOf(id)])))
    const parse = jest.spyOn(JSON, 'parse')
    for (const id of ids) {
      const sum = none()
      addResults(sum, value, id)
      expect([id, sum]).toEqual([id, countsOf(id)])
    }
    expect(Math.max(...parse.mock.calls.map(([text]) => text.length))).toBeLessThan(20)
    parse.mockRestore()
  })
})

it('periods begin every 15 minutes', () => {
  expect(periodOf(epochMs(at + 899_999))).toBe(at)
  expect(periodOf(epochMs(at + 900_000))).toBe(at + 900_000)
})
