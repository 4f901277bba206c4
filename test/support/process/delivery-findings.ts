import { parseCommit } from '../../../src/core/progress/commit-metadata.ts'
import { type Findings, type Injected, judge, type Limits } from '../../tools/chaos/delivery-verdict.ts'
import type { CommittedPosition } from '../kafka/admin.ts'
import type { Seen } from '../webhook/receiver-recording-sender-and-time.ts'
import { idAt, offsetOf, partitionOf } from './message-ids-with-partition-offsets.ts'

/**
 * Factor by which every time limit is multiplied. The limits are for an idle machine, but these
 * tests share the machine with other tests and with the brokers.
 */
export const patience = Number(process.env['PATIENCE'] ?? 2)

/**
 * Returns a function that checks whether a committed position marks an offset as done. Offsets
 * before the committed one are done, and so are the later ones that the metadata lists.
 */
function isDoneBy({ offset: committed, metadata }: CommittedPosition): (offset: number) => boolean {
  const ahead = parseCommit(committed, metadata).done
  return offset => offset < committed || ahead.has(offset)
}

/** Whether the committed positions mark a message as done. */
export function isCommitted(positions: readonly CommittedPosition[]): (id: string) => boolean {
  const isDone = positions.map(isDoneBy)
  return id => isDone[partitionOf(id)]?.(offsetOf(id)) === true
}

/**
 * Compares the committed positions with those of the previous check, and returns the errors. It is
 * an error if a record was marked as done and no longer is, or if a record is marked as done before
 * its delivery.
 */
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

/** The offsets that at least one of the commits marks as done, without those below `from`. */
function doneFrom(from: number, commits: readonly CommittedPosition[]): number[] {
  const done = new Set<number>()
  for (const { offset: committed, metadata } of commits) {
    for (let offset = Math.max(0, from); offset < committed; offset++) done.add(offset)
    for (const offset of parseCommit(committed, metadata).done) done.add(offset)
  }
  return [...done]
}

/** What the sender and the receiver recorded. Times are monotonic milliseconds. */
export interface Observed {
  /** Send time of each message, by id. */
  readonly sent: ReadonlyMap<string, number>
  /** Requests in the order of their arrival. */
  readonly seen: readonly Seen[]
}

/** A process that was killed or frozen before it could commit its finished work. */
export interface Victim {
  readonly what: string
  readonly name: string
  readonly at: number
  /** Time at which a frozen process continued. */
  readonly healedAt?: number
}

/** Judges the deliveries by the rules of `make chaos`: for example, nothing may be lost. */
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
 * Describes the fault of a killed or frozen process for `findingsOf`. The recovery ends when all
 * partitions of this process have a new owner. A partition has a new owner when a different process
 * delivers an event of this partition that was sent after the fault.
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
