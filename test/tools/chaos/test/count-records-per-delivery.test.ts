import { expect, it } from '@jest/globals'
import { epochMs } from '../../../../src/core/time.ts'
import { countRecords } from '../count-records-per-delivery.ts'

const destinations = [{ id: 'strict' }, { id: 'resent' }]
const jobs = { operators: 2, replayed: 'strict', resent: 'resent', rate: 100 }
const of = (destination: string, id: string) => ({ destination, 'message-id': id })
const letter = (key: string, isTombstone = false) => ({
  key: Buffer.from(key),
  value: isTombstone ? null : Buffer.of(1),
  headers: of('strict', 'a'),
})
const waiting = (destination: string, reason = '') => ({
  headers: { ...of(destination, 'a'), reason },
  timestamp: epochMs(performance.timeOrigin + 5_000),
})

it('counts the records of each delivery, and the copies that jobs wrote', () => {
  const { records, moved } = countRecords(
    {
      events: [
        { id: 'a', timestamp: 100 },
        { id: 'b', timestamp: 200 },
        { id: 'b', timestamp: 300 },
      ],
      deadLetters: [letter('0'), letter('0'), letter('0', true), letter('1')],
      retries: [
        waiting('strict'),
        { ...waiting('strict'), headers: of('strict', 'a') },
        waiting('resent'),
        waiting('resent', 'slow'),
        waiting('strict', 'http_5xx'),
        waiting('strict', 'circuit_open'),
      ],
    },
    { destinations, jobs },
    [
      { since: 0, until: 200 },
      { since: 200, until: 300 },
    ],
  )
  expect(Object.fromEntries(records)).toEqual({
    'strict a': { events: 1, copies: 2, due: 2 },
    'resent a': { events: 1, copies: 1, due: 1 },
    'strict b': { events: 2, copies: 0, due: 0 },
    'resent b': { events: 2, copies: 0, due: 1 },
  })
  expect(Object.fromEntries(moved)).toEqual({
    'resent a': { writtenAt: [5_000] },
    'strict a': { writtenAt: [5_000, 5_000] },
  })
})
