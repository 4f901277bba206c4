import { parseCommit } from '../../../src/core/progress/commit-state.ts'
import { type Findings, type Injected, judge, type Limits } from '../../tools/chaos/verdict.ts'
import type { CommittedPosition } from '../kafka/admin.ts'
import type { Seen } from '../webhook/recorded-deliveries.ts'

/** Of the events topic of a fleet. */
export const partitions = 12
/** Factor on every time limit, because tests share the machine with each other and with the brokers. */
export const patience = Number(process.env['PATIENCE'] ?? 2)

/** Message ids are `<partition>-<number>`; the numbers go round the partitions. */
export const partitionOf = (id: string): number => Number.parseInt(id, 10)
export const offsetOf = (id: string): number => Math.floor(Number(id.split('-')[1]) / partitions)
export const idAt = (partition: number, offset: number): string => `${partition}-${offset * partitions + partition}`

/** Which offsets a commit says are done. */
function isDoneBy({ offset: committed, metadata }: CommittedPosition): (offset: number) => boolean {
  const ahead = parseCommit(committed, metadata).done
  return offset => offset < committed || ahead.has(offset)
}

/** Which messages a commit of each partition says are done. */
export function isCommitted(positions: readonly CommittedPosition[]): (id: string) => boolean {
  const isDone = positions.map(isDoneBy)
  return id => isDone[partitionOf(id)]?.(offsetOf(id)) === true
}

/** What a later look at the committed positions must not show: that any went back, in order or not, or came before its delivery. */
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

/** The offsets from one on that any of the commits calls done. */
function doneFrom(from: number, commits: readonly CommittedPosition[]): number[] {
  const done = new Set<number>()
  for (const { offset: committed, metadata } of commits) {
    for (let offset = Math.max(0, from); offset < committed; offset++) done.add(offset)
    for (const offset of parseCommit(committed, metadata).done) done.add(offset)
  }
  return [...done]
}

/** What the sender and the receiver know. */
export interface Observed {
  /** Message → when it was sent. */
  readonly sent: ReadonlyMap<string, number>
  /** In the order in which they came in. */
  readonly seen: readonly Seen[]
}

/** What was done to a process that had no chance to commit what it had done. */
export interface Victim {
  readonly what: string
  readonly name: string
  readonly at: number
  /** When it was thawed. */
  readonly healedAt?: number
}

/** The findings of a run of `make chaos`, and by its rules. */
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
    parked: new Set(),
    refused: new Set(),
    problems: seen.filter(({ id }) => !events.has(id)).map(({ id }) => `${id} came and was never sent`),
  })
}

/** The fault is over when each partition that its victim had has delivered, by another process, what was sent only after it. */
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
