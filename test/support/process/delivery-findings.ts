import { parseCommit } from '../../../src/core/progress/commit-metadata.ts'
import { type Findings, type Injected, judge, type Limits } from '../../tools/chaos/delivery-verdict.ts'
import type { CommittedPosition } from '../kafka/admin.ts'
import type { Seen } from '../webhook/receiver-recording-sender-and-time.ts'
import { idAt, offsetOf, partitionOf } from './message-ids-with-partition-offsets.ts'

/**
 * Factor for every time limit, because these tests share the machine with other tests and the
 * brokers.
 */
export const patience = Number(process.env['PATIENCE'] ?? 2)

/** Returns a function that tests whether the commit marks an offset as done. */
function isDoneBy({ offset: committed, metadata }: CommittedPosition): (offset: number) => boolean {
  const ahead = parseCommit(committed, metadata).done
  return offset => offset < committed || ahead.has(offset)
}

export function isCommitted(positions: readonly CommittedPosition[]): (id: string) => boolean {
  const isDone = positions.map(isDoneBy)
  return id => isDone[partitionOf(id)]?.(offsetOf(id)) === true
}

/** Returns an error for each record that lost its mark as done, or got it before its delivery. */
export function progressFaults(
  before: readonly CommittedPosition[],
  now: readonly CommittedPosition[],
  isDelivered: (id: string) => boolean,
): readonly string[] {
  return now.flatMap((position, partition) => {
    const last = before[partition] ?? { offset: 0, metadata: '' }
    const [wasDone, isDone] = [isDoneBy(last), isDoneBy(position)]
    const offsets = doneFrom(Math.min(last.offset, position.offset), [last, position])
    return offsets.flatMap(offset => {
      const id = idAt(partition, offset)
      if (wasDone(offset)) return isDone(offset) ? [] : [`${id} was committed as done and is no longer`]
      return isDone(offset) && !isDelivered(id) ? [`${id} is committed as done and was not delivered`] : []
    })
  })
}

/** The offsets from `from` that at least one commit marks as done. */
function doneFrom(from: number, commits: readonly CommittedPosition[]): number[] {
  const done = new Set<number>()
  for (const { offset: committed, metadata } of commits) {
    for (let offset = Math.max(0, from); offset < committed; offset++) done.add(offset)
    for (const offset of parseCommit(committed, metadata).done) done.add(offset)
  }
  return [...done]
}

/** Times are in ms of `performance.now()`. */
export interface Observed {
  readonly sent: ReadonlyMap<string, number>
  /** In the order of their arrival. */
  readonly seen: readonly Seen[]
}

/** A process that was killed or frozen before it could commit its finished work. */
export interface Victim {
  readonly what: string
  readonly name: string
  readonly at: number
  readonly healedAt?: number
}

/** Judges the deliveries by the rules of `make chaos`. */
export function findingsOf({ sent, seen }: Observed, limits: Limits, injected: readonly Injected[] = []): Findings {
  const events = new Map(
    [...sent].map(([id, at]) => [id, { id, partition: partitionOf(id), at, acknowledgedAt: at }] as const),
  )
  return judge({
    limits,
    patience,
    destinations: ['crm'],
    acknowledged: [...events.values()],
    deliveries: seen.flatMap(({ id, process, at }) => {
      const event = events.get(id)
      return event === undefined ? [] : [{ id, destination: 'crm', process, at, answer: 200, sent: event }]
    }),
    injected,
    deadLettered: new Map(),
    waiting: new Set(),
    refused: new Set(),
    problems: seen.filter(({ id }) => !events.has(id)).map(({ id }) => `${id} came and was never sent`),
  })
}

/**
 * The fault of a killed or frozen process. Recovery ends when other processes have delivered a
 * later event from each of its partitions.
 */
export function suffered({ sent, seen }: Observed, { what, name, at, healedAt }: Victim): Injected {
  const owners = new Map(seen.filter(each => each.at <= at).map(({ id, process }) => [partitionOf(id), process]))
  const missing = new Set([...owners].flatMap(([partition, owner]) => (owner === name ? [partition] : [])))
  if (missing.size === 0) throw new Error(`${name} had no partition: ${what} shows nothing`)
  let recoveredAt = at
  for (const each of seen) {
    const isSign = each.process !== name && (sent.get(each.id) ?? 0) > at
    if (isSign && missing.delete(partitionOf(each.id))) recoveredAt = each.at
  }
  return {
    what: `${what} of ${name}`,
    at,
    from: at,
    victims: [name],
    healedAt,
    recoveredAt: missing.size === 0 ? recoveredAt : undefined,
  }
}
