import { describe, expect, it } from '@jest/globals'
import type { Try } from '../change-load.ts'
import { type ChangesEvidence, judgeChanges, type ObjectSeen } from '../changes-verdict.ts'

const attempt = (mark: string, outcome: Try['outcome'], version?: number): Try => ({
  ...{ destination: 'a', mark, outcome },
  ...(version !== undefined && { version }),
})
const record = (destination: string, version: number, mark: string, isCopy = false) => ({
  ...{ destination, version, mark, isCopy },
})
const shown = (id: string, version: number, mark: string, more: Partial<ObjectSeen> = {}): ObjectSeen => ({
  ...{ id, version, state: 'enabled', problems: [], document: { webhooks: [{ id: mark }] } },
  ...more,
})
const call = (destination: string, mark: string | undefined, id = 'm-1') => ({ id, destination, mark })
const last = (destination: string, mark: string, partition: number) => ({ destination, mark, partition })

/** The change of the second try is in force, although this try got no response. */
const tries = [attempt('1-1', 'acknowledged', 2), attempt('2-2', 'unknown'), attempt('2-3', 'refused')]
const records = [
  ...[record('a', 1, '0-0'), record('b', 1, '0-0'), record('a', 2, '1-1'), record('a', 3, '2-2')],
  // Processes ignore the record `2-3` of the refused try. One of them writes a copy of `2-2`,
  // because compaction would otherwise keep only `2-3`.
  ...[record('a', 3, '2-3'), record('a', 3, '2-2', true)],
]
const objects = [shown('a', 3, '2-2'), shown('b', 1, '0-0')]
const nothingWrong: ChangesEvidence = {
  destinations: ['a', 'b'],
  wanted: 2,
  seen: { tries, found: 1, problems: [] },
  records,
  lists: new Map([
    ['o1', objects],
    ['o2', objects],
  ]),
  calls: [call('a', '0-0'), call('a', '1-1'), call('a', '2-2'), call('b', '0-0')],
  last: [last('a', '2-2', 0), last('a', '2-2', 1), last('b', '0-0', 0), last('b', '0-0', 1)],
  partitions: 2,
  dispatchers: { names: new Set(['p1', 'p2']), expected: 2 },
}
const seen = (more: Partial<ChangesEvidence['seen']>): Partial<ChangesEvidence> => ({
  seen: { ...nothingWrong.seen, ...more },
})
/** The second operator process, `o2`, shows the destinations in `second`. */
const shownBySecond = (...second: readonly ObjectSeen[]): Partial<ChangesEvidence> => ({
  lists: new Map([...nothingWrong.lists, ['o2', second]]),
})

const cases: readonly (readonly [name: string, evidence: Partial<ChangesEvidence>, ...failures: RegExp[]])[] = [
  ['holds when each acknowledged change is in force', {}],
  [
    'holds when a change without a known result is not in force',
    seen({ tries: [...tries, attempt('3-4', 'unknown')] }),
  ],
  [
    'fails an acknowledged change that is not in force',
    seen({ tries: [...tries, attempt('3-4', 'acknowledged', 4)], found: 0 }),
    /^acknowledged, but not in force with the version of the response: 1 \(a 3-4\)$/,
  ],
  [
    'fails an acknowledged change with another version than that of the response',
    seen({ tries: tries.with(0, attempt('1-1', 'acknowledged', 3)) }),
    /^acknowledged, but not in force with the version of the response: 1 \(a 1-1\)$/,
  ],
  [
    'fails a change in force that was refused with 412',
    { records: records.with(3, record('a', 3, '2-3')) },
    /^refused with 412, but in force: 1 \(a 2-3\)$/,
    /^in force, but neither acknowledged nor without a known result: 1 \(a 2-3\)$/,
    /^o1 does not show the last version: 1 \(a version 3\)$/,
    /^o2 does not show the last version: 1 \(a version 3\)$/,
    /^requests without the mark of one version in force: 1 \(a m-1: 2-2\)$/,
    /^delivered with an earlier version: 2 \(a 2-2; a 2-2\)$/,
  ],
  [
    'fails a lost update: a change that is not based on the version before it',
    {
      ...seen({ tries: [...tries, attempt('2-4', 'unknown')] }),
      records: [...records, record('a', 4, '2-4')],
      lists: new Map(['o1', 'o2'].map(name => [name, [shown('a', 4, '2-4'), shown('b', 1, '0-0')]])),
      last: nothingWrong.last.map(each => (each.destination === 'a' ? { ...each, mark: '2-4' } : each)),
    },
    /^a version that is not based on the one before it: 1 \(a 2-4 as version 4\)$/,
  ],
  [
    'fails a run in which no kill interrupted a change',
    { ...seen({ tries: [attempt('1-1', 'acknowledged', 2), attempt('2-2', 'acknowledged', 3)], found: 0 }) },
    /^no kill interrupted a change, so the run proves nothing$/,
  ],
  ['fails a change that was not made', { wanted: 3 }, /^2 changes were made, not 3$/],
  ['fails a problem of a client', seen({ problems: ['a: 500'] }), /^a: 500$/],
  [
    'fails a process that does not show a destination',
    shownBySecond(shown('a', 3, '2-2')),
    /^o2 does not show: 1 \(b\)$/,
  ],
  [
    'fails a process with an earlier version',
    shownBySecond(shown('a', 2, '1-1'), shown('b', 1, '0-0')),
    /^o2 does not show the last version: 1 \(a version 2\)$/,
    /^o2 shows other fields than another process: 1 \(a\)$/,
  ],
  [
    'fails an excluded destination',
    {
      lists: new Map(
        ['o1', 'o2'].map(name => [name, [shown('a', 3, '2-2', { state: 'excluded', problems: ['p'] }), objects[1]!]]),
      ),
    },
    /^o1 does not use: 1 \(a excluded \["p"\]\)$/,
    /^o2 does not use: 1 \(a excluded \["p"\]\)$/,
  ],
  [
    'fails processes that show different documents of one version',
    shownBySecond(shown('a', 3, '2-2', { document: { webhooks: [{ id: '2-2' }, { id: 'x' }] } }), objects[1]!),
    /^o2 shows other fields than another process: 1 \(a\)$/,
  ],
  [
    'fails when only one process responded',
    { lists: new Map([['o1', objects]]) },
    /^1 operator processes responded at the end$/,
  ],
  [
    'fails a request with the marks of two versions, and one of a change that is not in force',
    { calls: [...nothingWrong.calls, call('a', '1-1 and 2-2', 'm-8'), call('a', '2-3', 'm-9'), call('b', undefined)] },
    /^requests without the mark of one version in force: 3 \(a m-8: 1-1 and 2-2; a m-9: 2-3; b m-1: none\)$/,
  ],
  [
    'fails a last event that was delivered with an earlier version',
    { last: nothingWrong.last.with(1, last('a', '1-1', 1)) },
    /^delivered with an earlier version: 1 \(a 1-1\)$/,
  ],
  [
    'fails a partition without a delivery of the last events',
    { last: nothingWrong.last.slice(1) },
    /^no delivery of the last events by destination and partition: 1 \(a 0\)$/,
  ],
  [
    'fails a dispatcher without a delivery of the last events',
    { dispatchers: { names: new Set(['p1']), expected: 2 } },
    /^1 dispatchers delivered the last events, not 2$/,
  ],
]

describe('the verdict on changes of destinations', () => {
  it.each(cases)('%s', (_, evidence, ...failures) => {
    expect(judgeChanges({ ...nothingWrong, ...evidence }).failures).toEqual(
      failures.map(each => expect.stringMatching(each)),
    )
  })

  it('shows the numbers of changes and tries', () => {
    expect(judgeChanges(nothingWrong).measured).toEqual([
      '2 of 2 changes were made: the operator API acknowledged 1 with a 200, and clients found 1 by reading the destination again. 1 tries got a 412, and were repeated. 1 tries got a 503 or no response, but 1 of them made a new version. So the config topic has 2 new versions (1 + 1)',
      '4 deliveries to the last URLs of 2 destinations, by the processes p1 and p2',
    ])
  })
})
