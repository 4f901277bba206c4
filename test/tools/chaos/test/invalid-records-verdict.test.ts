import { describe, expect, it } from '@jest/globals'
import { type DeadLettersEvidence, deadLetterOf, judgeDeadLetters } from '../invalid-records-verdict.ts'
import type { BadSent } from '../message-ledger.ts'

const bad = (id: string, reason: BadSent['reason'] = 'undecodable', acknowledged = true): BadSent => ({
  ...{ id, reason, acknowledged },
})
const oversized = [
  { partition: 0, offset: 7, bytes: 5_000_000 },
  { partition: 0, offset: 9, bytes: undefined },
]
const truncatedAt = (offset: number, originalBytes: number, keptBytes = 65_536) => ({
  ...{ id: undefined, reason: 'undecodable' },
  truncated: { partition: 0, offset, keptBytes, originalBytes },
})
const [five, twoHundred] = [truncatedAt(7, 5_000_000), truncatedAt(9, 204_000)]
const right = { id: 'a', reason: 'undecodable' }

interface Case extends DeadLettersEvidence {
  readonly name: string
  readonly measured: RegExp
  readonly failures: readonly RegExp[]
}

const cases: readonly Case[] = [
  {
    name: 'holds when each invalid record has its reason',
    bad: [bad('a'), bad('b', 'unknown_source')],
    deadLetters: [{ id: 'b', reason: 'unknown_source' }, right],
    measured: /^2 invalid records were written\. Dead-lettered, by reason: 1 undecodable, 1 unknown_source$/,
    failures: [],
  },
  {
    name: 'fails a missing dead letter',
    ...{ bad: [bad('a'), bad('b')], deadLetters: [right], measured: /1 undecodable/ },
    failures: [/^invalid records missing from the dead-letter topic: 1 \(b, undecodable\)$/],
  },
  {
    name: 'expects no dead letter of a record that Kafka rejected',
    ...{ bad: [bad('a'), bad('b', 'undecodable', false)], deadLetters: [right], measured: /^2 invalid/, failures: [] },
  },
  {
    name: 'fails a wrong reason',
    ...{ bad: [bad('a', 'invalid_message')], deadLetters: [right], measured: /1 undecodable/ },
    failures: [/^wrong dead letters: 1 \(a as undecodable, not invalid_message\)$/],
  },
  {
    name: 'fails a dead letter of a valid record',
    ...{ bad: [], deadLetters: [right], measured: /^0 invalid records/, failures: [/a as undecodable, not at all/] },
  },
  {
    name: 'fails a dead letter without an id',
    ...{ bad: [], deadLetters: [{ id: undefined, reason: 'http_4xx' }], measured: /1 http_4xx$/ },
    failures: [/record without an id as http_4xx, not at all/],
  },
  {
    name: 'permits two truncated dead letters of each oversized record',
    ...{ bad: [], deadLetters: [five, twoHundred, five, twoHundred], oversized, measured: /^0 invalid/, failures: [] },
  },
  {
    name: 'fails a third dead letter of an oversized record',
    ...{ bad: [], deadLetters: [five, five, five, twoHundred], oversized, measured: /^0 invalid/ },
    failures: [/^the oversized record at offset 7 of partition 0 has 3 dead letters$/],
  },
  {
    name: 'fails a missing dead letter of an oversized record, and one of another record',
    ...{ bad: [], deadLetters: [five, truncatedAt(8, 204_000)], oversized, measured: /^0 invalid/ },
    failures: [
      /^the oversized record at offset 9 of partition 0 has no truncated dead letter$/,
      /record without an id as undecodable, not at all/,
    ],
  },
  {
    name: 'fails a truncated dead letter with another length of the value or of its beginning',
    ...{ bad: [], deadLetters: [truncatedAt(7, 5_000_001), truncatedAt(9, 204_000, 100)], oversized, measured: /^0/ },
    failures: [
      /^the dead letter of the oversized record at offset 7 of partition 0 has 65536 of 5000001 bytes$/,
      /^the dead letter of the oversized record at offset 9 of partition 0 has 100 of 204000 bytes$/,
    ],
  },
  {
    name: 'permits two dead letters of one record',
    ...{
      bad: [bad('a')],
      deadLetters: [right, right],
      measured: /Dead-lettered, by reason: 1 undecodable$/,
      failures: [],
    },
  },
  {
    name: 'fails a third dead letter of one record',
    ...{ bad: [bad('a')], deadLetters: [right, right, right], measured: /1 undecodable$/ },
    failures: [/^more than two dead letters: 1 \(a, 3 times\)$/],
  },
  {
    name: 'fails a wrong reason before the right one',
    ...{ bad: [bad('a')], deadLetters: [{ id: 'a', reason: 'http_4xx' }, right], measured: /4xx, 1 undecodable$/ },
    failures: [/^wrong dead letters: 1 \(a as http_4xx, not undecodable\)$/],
  },
]

describe('the verdict on dead letters of bad records', () => {
  it.each(cases)('$name', ({ measured, failures, ...evidence }) => {
    const examined = judgeDeadLetters(evidence)
    expect(examined.measured).toEqual([expect.stringMatching(measured)])
    expect(examined.failures).toEqual(failures.map(each => expect.stringMatching(each)))
  })
})

it('reads the position and the lengths of a truncated dead letter', () => {
  const value = Buffer.alloc(65_536)
  const headers = { reason: 'undecodable', 'origin-partition': '0', 'origin-offset': '7' }
  expect(deadLetterOf({ value, headers: { ...headers, 'original-length': '5000000' } }, undefined)).toEqual(five)
  expect(deadLetterOf({ value, headers }, 'a')).toEqual(right)
})
