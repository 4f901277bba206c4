import { beforeEach, describe, expect, it } from '@jest/globals'
import { shardOf } from '../../../../src/core/live-status/result-counts-of-this-process.ts'
import {
  type DestinationActivity,
  encodeActivity,
  encodeKey,
  encodeProcess,
  encodeResults,
  periodMs,
  periodOf,
} from '../../../../src/core/live-status/status-record.ts'
import { LiveSums, staleAfter } from '../../../../src/core/live-status/status-sums-of-all-processes.ts'
import { type EpochMs, epochMs } from '../../../../src/core/time.ts'

const now = epochMs(Date.parse('2026-03-01T12:10:00.000Z'))
const minutes = (count: number): EpochMs => epochMs(now - count * 60_000)
const shard = shardOf('crm')
const rest: DestinationActivity = { breaker: 'closed', requestsInProgress: 0, inMemory: 0 }
let sums: LiveSums

beforeEach(() => {
  sums = new LiveSums()
})

function say(instance: string, at: EpochMs = now): void {
  const rates = { admitted: 3, delivered: 2, failed: 1 }
  const facts = { services: ['dispatcher'], version: '1.2.3', startedAt: minutes(60), partitions: 6, rates } as const
  sums.apply(encodeKey({ kind: 'process', instance }), Buffer.from(encodeProcess(facts)), at)
}
function act(instance: string, activity: Partial<DestinationActivity>, destination = 'crm'): void {
  const value = Buffer.from(encodeActivity([[destination, { ...rest, ...activity }]]))
  sums.apply(encodeKey({ kind: 'activity', instance, shard: shardOf(destination) }), value, now)
}
function count(instance: string, at: EpochMs, delivered: number): void {
  const value = Buffer.from(encodeResults([['crm', { delivered, failed: 1, deadLettered: 0, dropped: 0 }]]))
  sums.apply(encodeKey({ kind: 'results', instance, start: periodOf(at), shard }), value, at)
}

describe('the processes', () => {
  it('count while they write, in the order of their names', () => {
    say('b')
    say('a', epochMs(now - staleAfter))
    say('dead', epochMs(now - staleAfter - 1))
    expect(sums.processes(now).map(({ instance }) => instance)).toEqual(['a', 'b'])
    sums.apply('process/b', null, now)
    expect(sums.processes(now)).toEqual([
      {
        ...{ instance: 'a', services: ['dispatcher'], version: '1.2.3', partitions: 6, startedAt: minutes(60) },
        ...{ seenAt: now - staleAfter, rates: { admitted: 3, delivered: 2, failed: 1 } },
      },
    ])
  })
})

describe('what processes know about a destination', () => {
  it.each<[string, Partial<DestinationActivity>, Partial<DestinationActivity>, Partial<DestinationActivity>]>([
    [
      'is the sum of the numbers',
      { requestsInProgress: 2, inMemory: 1 },
      { requestsInProgress: 3, inMemory: 4 },
      { requestsInProgress: 5, inMemory: 5 },
    ],
    ['is the sum of the paces', { pace: 2.5 }, { pace: 1 }, { pace: 3.5 }],
    ['has the pace of one', { pace: 2.5 }, {}, { pace: 2.5 }],
    ['has the pause of one', { pausedUntil: now }, {}, { pausedUntil: now }],
    ['has the later end of two pauses', { pausedUntil: minutes(1) }, { pausedUntil: now }, { pausedUntil: now }],
    ['is open when one is open', {}, { breaker: 'open', nextProbeAt: now }, { breaker: 'open', nextProbeAt: now }],
    ['is probing when one probes', { breaker: 'open' }, { breaker: 'probing' }, { breaker: 'probing' }],
    [
      'has the earliest probe',
      { breaker: 'open', nextProbeAt: now },
      { breaker: 'open', nextProbeAt: minutes(1) },
      { breaker: 'open', nextProbeAt: minutes(1) },
    ],
  ])('%s', (_name, one, other, sum) => {
    say('a')
    say('b')
    act('a', one)
    act('b', other)
    expect(sums.activityOf('crm', now)).toEqual({ ...rest, nextProbeAt: undefined, pace: undefined, ...sum })
  })

  it('is at rest without a record, and after a tombstone', () => {
    say('a')
    act('a', { inMemory: 1 })
    expect(sums.activityOf('other', now)).toEqual(rest)
    sums.apply(encodeKey({ kind: 'activity', instance: 'a', shard }), null, now)
    expect(sums.activityOf('crm', now)).toEqual(rest)
  })

  it('does not count while its process is stale', () => {
    say('a', minutes(1))
    act('a', { breaker: 'open' })
    expect(sums.activityOf('crm', now)).toEqual(rest)
    expect(sums.openBreakers(now)).toEqual([])
    sums.prune(now)
    say('a')
    expect(sums.activityOf('crm', now)).toMatchObject({ breaker: 'open' })
  })

  it.each<[string, () => void]>([
    ['has ended', () => sums.apply('process/a', null, now)],
    ['was last seen a day ago', () => say('a', minutes(24 * 60 + 16))],
  ])('is forgotten when its process %s', (_name, end) => {
    say('a')
    act('a', { breaker: 'open' })
    end()
    sums.prune(now)
    say('a')
    expect(sums.openBreakers(now)).toEqual([])
  })

  it('shows the open circuit breakers, each once', () => {
    for (const instance of ['a', 'b']) {
      say(instance)
      act(instance, { breaker: 'open' }, 'crm')
    }
    act('b', { breaker: 'probing' }, 'billing')
    act('b', { inMemory: 1 }, 'busy')
    expect(sums.openBreakers(now)).toEqual(['billing', 'crm'])
  })
})

describe('results', () => {
  it('are those of all processes, also of dead ones, in the last hour and day', () => {
    count('a', now, 1)
    count('a', now, 2)
    count('b', now, 3)
    count('dead', minutes(60), 10)
    count('dead', minutes(71), 100)
    count('dead', minutes(24 * 60), 1_000)
    count('dead', minutes(24 * 60 + 11), 10_000)
    expect(sums.resultsOf('crm', now)).toEqual({
      lastHour: { since: periodOf(minutes(60)), delivered: 15, failed: 3, deadLettered: 0, dropped: 0 },
      lastDay: { since: periodOf(minutes(24 * 60)), delivered: 1_115, failed: 5, deadLettered: 0, dropped: 0 },
    })
    sums.prune(now)
    expect(sums.resultsOf('crm', now).lastDay.delivered).toBe(1_115)
    expect(sums.resultsOf('crm', epochMs(now - 4 * periodMs)).lastDay.delivered).toBe(1_115)
  })

  it('of a destination without results are 0', () => {
    count('a', now, 1)
    expect(sums.resultsOf('other', now).lastDay).toMatchObject({ delivered: 0, failed: 0 })
  })
})
