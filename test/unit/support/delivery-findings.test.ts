import { describe, expect, it } from '@jest/globals'
import { doneAheadText } from '../../../src/core/progress/commit-metadata.ts'
import type { CommittedPosition } from '../../support/kafka/admin.ts'
import { findingsOf, isCommitted, patience, progressFaults, suffered } from '../../support/process/delivery-findings.ts'
import { idAt } from '../../support/process/message-ids-with-partition-offsets.ts'
import type { Seen } from '../../support/webhook/receiver-recording-sender-and-time.ts'
import type { Findings } from '../../tools/chaos/delivery-verdict.ts'

const at = (offset: number, ...ahead: readonly number[]): CommittedPosition => ({
  offset,
  metadata: doneAheadText(offset, ahead),
})
const of = (partition: number, ...offsets: readonly number[]): string[] => offsets.map(each => idAt(partition, each))

it('is committed below the position, and where it was done ahead', () => {
  const committed = isCommitted([at(2), at(1, 3)])
  expect([...of(0, 0, 1, 2), ...of(1, 0, 1, 2, 3), ...of(2, 0)].filter(committed)).toEqual([
    ...of(0, 0, 1),
    ...of(1, 0, 3),
  ])
})

describe('between two checks of the commits', () => {
  const delivered = new Set([...of(0, 0, 1, 2, 3, 5), ...of(1, 0)])

  it.each<[string, CommittedPosition[], CommittedPosition[], string[]]>([
    ['nothing new', [at(2, 3)], [at(2, 3)], []],
    ['nothing committed at all', [], [at(-1)], []],
    ['forward, with offsets done ahead', [at(-1), at(-1)], [at(4, 5), at(1)], []],
    ['forward over offsets that were ahead before', [at(2, 3, 5)], [at(4, 5)], []],
    ['back', [at(2)], [at(1)], ['0-12 was committed as done and is no longer']],
    ['to nothing', [at(1)], [at(-1)], ['0-0 was committed as done and is no longer']],
    ['back, but done ahead', [at(2)], [at(1, 1)], []],
    ['the same, without the offsets ahead', [at(2, 3)], [at(2)], ['0-36 was committed as done and is no longer']],
    ['over an undelivered message', [at(4)], [at(6)], ['0-48 is committed as done and was not delivered']],
    ['ahead of an undelivered message', [at(4)], [at(4, 6)], ['0-72 is committed as done and was not delivered']],
    ['of another partition', [at(1), at(1)], [at(1), at(2)], ['1-13 is committed as done and was not delivered']],
  ])('%s', (_name, before, now, faults) => {
    expect(progressFaults(before, now, id => delivered.has(id))).toEqual(faults)
  })
})

describe('the findings of a fleet', () => {
  const sent = new Map([
    ['0-0', 1_000],
    ['1-1', 1_100],
    ['0-12', 51_000],
    ['1-13', 51_000],
  ])
  const by = (process: string, id: string, moment: number): Seen => ({ id, process, at: moment })
  const once = [by('a', '0-0', 1_010), by('b', '1-1', 1_110), by('b', '0-12', 54_000), by('b', '1-13', 51_010)]
  const kill = { what: 'SIGKILL', name: 'a', at: 50_000 }
  const limits = { duplicates: 0, recoveryMs: 10_000, latestMs: 100_000 }
  const found = (seen: readonly Seen[], victim = kill): Findings =>
    findingsOf({ sent, seen }, limits, [suffered({ sent, seen }, victim)])

  it('count recovery on the victim’s partitions only, from what was sent after the fault', () => {
    expect(found(once)).toMatchObject({ lost: 0, duplicates: 0, recoveryMs: 4_000, failures: [] })
  })

  it.each<[string, Seen[], RegExp]>([
    ['a message that was never sent', [by('b', '7-7', 1)], /^7-7 came and was never sent$/],
    [
      'a repetition of a message that another process delivered',
      [by('b', '1-1', 54_000)],
      /^duplicated without a known cause, limit 0: 1 \(crm 1-1 by b .* later by b\)$/,
    ],
    [
      'a repetition of a message that was delivered long before',
      [by('b', '0-0', 54_000)],
      /^duplicated without a known cause, limit 0: 1 \(crm 0-0 by a .* later by b\)$/,
    ],
  ])('report %s', (_name, more, failures) => {
    expect(found([...once, ...more]).failures).toEqual([expect.stringMatching(failures)])
  })

  it.each<[string, number, number]>([
    ['within its last 1.5 s', kill.at - 1_500 * patience, 0],
    ['before that', kill.at - 1_500 * patience - 1, 1],
    ['when it was killed', kill.at, 0],
  ])('a duplicate that was first delivered %s', (_name, moment, failures) => {
    const seen = [by('a', '0-0', moment), ...once.slice(1), by('b', '0-0', 54_000)]
    expect(found(seen).failures).toHaveLength(failures)
  })

  it('fail without a recovery, after a late one, and when the victim had nothing to recover', () => {
    const never = found(once.filter(({ id }) => id !== '0-12'))
    expect(never.failures).toContain('SIGKILL of a: not every affected partition delivered again')
    const late = by('b', '0-12', 50_001 + 10_000 * patience)
    const tooLate = found(once.map(each => (each.id === '0-12' ? late : each)))
    expect(tooLate.failures).toEqual([expect.stringContaining('SIGKILL of a: recovered after')])
    expect(() => found(once, { ...kill, name: 'c' })).toThrow('c had no partition')
  })
})
