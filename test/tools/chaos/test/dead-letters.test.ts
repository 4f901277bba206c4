import { describe, expect, it } from '@jest/globals'
import { type DeadLettersEvidence, judgeDeadLetters } from '../dead-letters.ts'
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
    name: 'each with its reason',
    bad: [bad('a'), bad('b', 'unknown_source')],
    deadLetters: [{ id: 'b', reason: 'unknown_source' }, right],
    measured: /^2 bad records, dead-lettered: 1 undecodable, 1 unknown_source$/,
    failures: [],
  },
  {
    name: 'one that is nowhere',
    ...{ bad: [bad('a'), bad('b')], deadLetters: [right], measured: /1 undecodable/ },
    failures: [/^bad records that are in no dead-letter topic: 1 \(b, undecodable\)$/],
  },
  {
    name: 'one that Kafka has never taken may be nowhere',
    ...{ bad: [bad('a'), bad('b', 'undecodable', false)], deadLetters: [right], measured: /^2 bad/, failures: [] },
  },
  {
    name: 'another reason',
    ...{ bad: [bad('a', 'invalid_message')], deadLetters: [right], measured: /1 undecodable/ },
    failures: [/^dead letters that should not be as they are: 1 \(a as undecodable, not invalid_message\)$/],
  },
  {
    name: 'a good one',
    ...{ bad: [], deadLetters: [right], measured: /^0 bad records/, failures: [/a as undecodable, not at all/] },
  },
  {
    name: 'one that does not say which it is',
    ...{ bad: [], deadLetters: [{ id: undefined, reason: 'http_4xx' }], measured: /1 http_4xx$/ },
    failures: [/one without id as http_4xx, not at all/],
  },
  {
    name: 'of what has no id, one that is nowhere',
    ...{ bad: [], deadLetters: [nameless], withoutId: 2, measured: /^0 bad/ },
    failures: [/^records without an id that are in no dead-letter topic: 1 of 2$/],
  },
  {
    name: 'of what has no id, each twice, after a kill',
    ...{ bad: [], deadLetters: Array(4).fill(nameless), withoutId: 2, measured: /^0 bad/, failures: [] },
  },
  {
    name: 'of what has no id, more than there were',
    ...{ bad: [], deadLetters: Array(5).fill(nameless), withoutId: 2, measured: /^0 bad/ },
    failures: [/one without id as undecodable, not at all/],
  },
  {
    name: 'the same twice, after a kill',
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
