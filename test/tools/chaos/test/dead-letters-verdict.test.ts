import { describe, expect, it } from '@jest/globals'
import { type DeadLettersEvidence, judgeDeadLetters } from '../dead-letters-verdict.ts'
import type { BadSent } from '../ledger.ts'

const bad = (id: string, reason: BadSent['reason'] = 'undecodable', acknowledged = true): BadSent => ({
  ...{ id, reason, acknowledged },
})
const nameless = { id: undefined, reason: 'undecodable' }
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
    measured: /^2 invalid records, dead-lettered: 1 undecodable, 1 unknown_source$/,
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
    name: 'fails a missing dead letter of an unreadable record',
    ...{ bad: [], deadLetters: [nameless], withoutId: 2, measured: /^0 invalid/ },
    failures: [/^records without an id missing from the dead-letter topic: 1 of 2$/],
  },
  {
    name: 'permits two dead letters per unreadable record',
    ...{ bad: [], deadLetters: Array(4).fill(nameless), withoutId: 2, measured: /^0 invalid/, failures: [] },
  },
  {
    name: 'fails more dead letters without an id than expected',
    ...{ bad: [], deadLetters: Array(5).fill(nameless), withoutId: 2, measured: /^0 invalid/ },
    failures: [/record without an id as undecodable, not at all/],
  },
  {
    name: 'permits two dead letters of one record',
    ...{ bad: [bad('a')], deadLetters: [right, right], measured: /dead-lettered: 1 undecodable$/, failures: [] },
  },
]

describe('the verdict on dead letters of bad records', () => {
  it.each(cases)('$name', ({ measured, failures, ...evidence }) => {
    const examined = judgeDeadLetters(evidence)
    expect(examined.measured).toEqual([expect.stringMatching(measured)])
    expect(examined.failures).toEqual(failures.map(each => expect.stringMatching(each)))
  })
})
