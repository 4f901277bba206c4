import { expect, it } from '@jest/globals'
import { withoutAborted } from '../../../../../src/adapters/kafka/kafkajs/patch-fetched-batches.ts'
import type { FetchedMessage } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'

/**
 * `A12`: offset 12, in a transaction of producer A. `a12`: outside a transaction. `A12!`: abort
 * marker. `A12.`: commit marker.
 */
function message(text: string): FetchedMessage {
  const [, producer = '', offset = '', ending = ''] = /^(\w)(\d+)([!.]?)$/.exec(text) ?? []
  return {
    offset,
    timestamp: '0',
    key: ending === '' ? Buffer.from([0, 0, 0, 0]) : Buffer.from([0, 0, 0, ending === '!' ? 0 : 1]),
    value: null,
    isControlRecord: ending !== '',
    batchContext: { producerId: producer.toUpperCase(), inTransaction: producer === producer.toUpperCase() },
  }
}

it.each([
  { name: 'no aborted transaction', log: 'A0 B1 A2. B3.', aborted: '', left: 'A0 B1 A2. B3.' },
  { name: 'one aborted transaction', log: 'A0 A1 A2! A3 A4.', aborted: 'A0', left: 'A2! A3 A4.' },
  { name: 'one among plain records', log: 'A0 b1 a2 A3! b4', aborted: 'A0', left: 'b1 a2 A3! b4' },
  { name: 'two of one producer', log: 'A0 A1! A2 A3! A4 A5.', aborted: 'A0 A2', left: 'A1! A3! A4 A5.' },
  { name: 'the first one ends last', log: 'A0 B1 B2! A3 A4! B5 B6.', aborted: 'B1 A0', left: 'B2! A4! B5 B6.' },
  { name: 'the fetch begins within both', log: 'A7 B8 B9! A10!', aborted: 'B5 A2', left: 'B9! A10!' },
  {
    name: 'the fetch begins within both, with a record of the later one',
    log: 'A8 B9 B10! A11!',
    aborted: 'B5 A6',
    left: 'B10! A11!',
  },
  { name: 'a marker of another producer', log: 'A0 B1. A2 A3!', aborted: 'A0', left: 'B1. A3!' },
  { name: 'a record key that equals an abort marker', log: 'A0 A1 A2!', aborted: 'A0', left: 'A2!' },
])('$name', ({ log, aborted, left }) => {
  const split = (text: string): string[] => text.split(' ').filter(Boolean)
  const transactions = split(aborted).map(text => ({ producerId: text[0] as string, firstOffset: text.slice(1) }))
  const result = withoutAborted(split(log).map(message), transactions)
  expect(result.map(({ offset }) => offset)).toEqual(split(left).map(text => /\d+/.exec(text)?.[0]))
})

it.each([
  { name: 'all records are aborted', log: 'A0 A1', left: [], last: '1' },
  { name: 'the last records are aborted', log: 'b0 A1 A2', left: ['0'], last: '2' },
])('a fetch that ends before the abort marker advances the position: $name', ({ log, left, last }) => {
  const result = withoutAborted(log.split(' ').map(message), [{ producerId: 'A', firstOffset: '0' }])
  expect(result.filter(({ isControlRecord }) => !isControlRecord).map(({ offset }) => offset)).toEqual(left)
  expect(result.at(-1)).toMatchObject({ offset: last, value: null, isControlRecord: true })
})
