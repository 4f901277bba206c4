import type { ConfigObject, ConfigObjects } from '../../core/config-objects/config-objects.ts'
import { parseDeliveryState } from '../../core/delivery/delivery-state.ts'
import { toIsoTimestamp } from '../../core/message/timestamp.ts'
import { notFound } from '../../core/operator/object-change-response.ts'
import { type ObjectRefusal, shownProblems } from '../../core/operator/object-refusal.ts'
import { type DestinationState, destinationStates, disablingViewOf, stateOf } from '../../core/operator/object-view.ts'
import type { DestinationStatus, DestinationWaiting, GroupLag, InstallationStatus } from '../../core/operator/status.ts'
import type { Clock, Logger, LogPositions, LogRecord, TopicReader } from '../../core/ports.ts'
import { type DurationMs, durationMs, epochMs, formatDuration } from '../../core/time.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { StatusView } from '../live-status/status-view.ts'
import { liveDestination, liveInstallation } from './live-status-fields.ts'
import type { ReadLog } from './read-log.ts'

export interface ReadStatusDeps {
  readonly objects: Pick<ConfigObjects, 'list' | 'get'>
  readonly positions: LogPositions
  readonly reader: TopicReader
  readonly topics: TopicNames
  /** The waits of the existing retry topics, shortest first. */
  readonly tiers: readonly DurationMs[]
  readonly log: Pick<ReadLog, 'lastFailures'>
  /** The version of this process. */
  readonly version: string
  /** The facts that the processes report about themselves. */
  readonly live: StatusView
  readonly clock: Clock
  readonly logger: Logger
}

/** Limits of one status: some seconds, and as many records as can be read in that time. */
export const statusLimits = { records: 50_000, time: durationMs(5_000) }
/** Maximum number of objects with problems in a status. */
const maxObjects = 100

interface ReadStatus {
  status(): Promise<InstallationStatus>
  destinationStatus(id: string): Promise<DestinationStatus | ObjectRefusal>
}

/**
 * Reads the state of the installation from Kafka, within `statusLimits`. It reads for one request
 * at a time. Requests that wait for the same answer share it.
 */
export function createReadStatus(deps: ReadStatusDeps): ReadStatus {
  const { objects, topics, tiers, live, clock } = deps
  const withinTime = createWithinTime(deps)
  const shared = new Map<string, Promise<unknown>>()
  let last: Promise<unknown> = Promise.resolve()

  /**
   * Calls `read` after all earlier reads have ended. Calls with the same name share the result if
   * they come before `read` is called.
   */
  function inTurn<T>(name: string, read: () => Promise<T>): Promise<T> {
    const waiting = shared.get(name) as Promise<T> | undefined
    if (waiting !== undefined) return waiting
    const result = last.then(() => {
      shared.delete(name)
      return read()
    })
    shared.set(name, result)
    last = result.catch(() => undefined)
    return result
  }

  async function lagOf(groupId: string, topic: string): Promise<number | undefined> {
    const offsets = await withinTime(async () => ({
      ends: await deps.positions.ends(topic),
      committed: await deps.positions.committed(groupId, topic),
    }))
    return offsets?.ends.reduce((sum, end, partition) => sum + lagBetween(offsets.committed[partition], end), 0)
  }

  async function status(): Promise<InstallationStatus> {
    const { dispatcherGroup, retriesGroup, audiencesGroup } = topics
    const asked = [
      { group: dispatcherGroup, topic: topics.events },
      ...tiers.map(tier => ({ group: retriesGroup, topic: topics.retry(tier) })),
      { group: audiencesGroup, topic: topics.audienceInput },
    ]
    const lags = await Promise.all(
      asked.map(async ({ group, topic }) => ({ group, topic, lag: await lagOf(group, topic) })),
    )
    const known = lags.flatMap(({ lag, ...of }) => (lag === undefined ? [] : [{ ...of, lag }]))
    const groups = [...Map.groupBy(known, ({ group }) => group)].map(
      ([group, of]): GroupLag => ({ group, topics: of.map(({ topic, lag }) => ({ topic, lag })) }),
    )
    const waiting = tiers.flatMap(tier => {
      const found = known.find(({ topic }) => topic === topics.retry(tier))
      return found === undefined ? [] : [{ tier: formatDuration(tier), records: found.lag }]
    })
    return {
      at: toIsoTimestamp(clock.now()),
      version: deps.version,
      ...((known.length < lags.length || !live.isCurrent()) && { partial: true }),
      groups,
      waiting,
      ...configurationOf(objects),
      ...liveInstallation(live, id => objects.get('destination', id) !== undefined, clock.now()),
    }
  }

  async function destinationStatus(id: string): Promise<DestinationStatus | ObjectRefusal> {
    const object = objects.get('destination', id)
    if (object === undefined) return notFound
    return statusOf(deps, withinTime, object)
  }

  return {
    status: () => inTurn('', status),
    destinationStatus: id => inTurn(id, () => destinationStatus(id)),
  }
}

const stateIn = (object: ConfigObject) => ({
  ...{ state: stateOf(object), version: object.version, problems: shownProblems(object.problems) },
  disabledAutomatically: disablingViewOf(object.disabledAutomatically),
})

/** Returns a function that resolves with `undefined` when Kafka does not answer in time. */
const createWithinTime =
  ({ clock, logger }: Pick<ReadStatusDeps, 'clock' | 'logger'>) =>
  async <T>(ask: () => Promise<T>): Promise<T | undefined> => {
    const expired = Promise.withResolvers<undefined>()
    const cancel = clock.after(statusLimits.time, () => expired.resolve(undefined))
    const asked = ask().catch((error: unknown) => {
      logger.warn(
        { error: (error as Error).message },
        'Kafka did not report offsets for a status request to the operator API (see error); the response is marked partial: true, and counts that need these offsets are missing or incomplete',
      )
      return undefined
    })
    try {
      return await Promise.race([asked, expired.promise])
    } finally {
      cancel()
    }
  }

async function statusOf(
  deps: ReadStatusDeps,
  withinTime: <T>(ask: () => Promise<T>) => Promise<T | undefined>,
  object: ConfigObject,
): Promise<DestinationStatus> {
  const { live, clock } = deps
  const { id } = object
  // Read both concurrently: while Kafka does not respond, each one waits until its time limit.
  const [{ waiting, isPartial }, failures] = await Promise.all([
    waitingOf(deps, withinTime, id),
    deps.log.lastFailures(id),
  ])
  return {
    kind: 'status',
    ...{ id, ...stateIn(object) },
    ...((isPartial || failures?.isPartial !== false || !live.isCurrent()) && { partial: true }),
    waiting,
    ...(failures !== undefined && { lastFailures: failures.lastFailures }),
    ...liveDestination(live, id, clock.now()),
  }
}

/**
 * Number of offsets from the committed one to the end. Without a commit, all records of the
 * partition count.
 */
const lagBetween = (committed: number | undefined, end: number): number =>
  Math.max(0, end - Math.max(0, committed ?? 0))

/**
 * Counts the deliveries of a destination that wait in retry topics. They are between the committed
 * offsets and the ends of the partitions.
 */
async function waitingOf(
  { positions, reader, topics, tiers, clock }: ReadStatusDeps,
  withinTime: <T>(ask: () => Promise<T>) => Promise<T | undefined>,
  id: string,
): Promise<{ readonly waiting: readonly DestinationWaiting[]; readonly isPartial: boolean }> {
  const until = clock.monotonic() + statusLimits.time
  let records = 0
  const isEnough = (): boolean => records >= statusLimits.records || clock.monotonic() >= until
  const waiting: DestinationWaiting[] = []
  let isPartial = false
  for (const tier of tiers) {
    if (isEnough()) {
      isPartial = true
      break
    }
    const topic = topics.retry(tier)
    const found = { records: 0, oldest: Number.POSITIVE_INFINITY }
    const onRecord = ({ headers, timestamp }: LogRecord): void => {
      records++
      if (parseDeliveryState(headers)?.destination !== id) return
      found.records++
      found.oldest = Math.min(found.oldest, timestamp)
    }
    const read = await withinTime(async () => {
      const from = await positions.committed(topics.retriesGroup, topic)
      return reader.readToEnd(topic, onRecord, { from: from.map(offset => Math.max(0, offset)), isEnough })
    })
    isPartial ||= read === undefined || isEnough()
    if (found.records === 0) continue
    const oldestAt = toIsoTimestamp(epochMs(found.oldest))
    waiting.push({ tier: formatDuration(tier), records: found.records, oldestAt })
  }
  return { waiting, isPartial }
}

function configurationOf(
  objects: ReadStatusDeps['objects'],
): Pick<InstallationStatus, 'destinations' | 'sources' | 'problems'> {
  const [destinations, sources] = [objects.list('destination'), objects.list('source')]
  const count = (of: readonly ConfigObject[], state: DestinationState): number =>
    of.filter(object => stateOf(object) === state).length
  const wrong = [...destinations, ...sources].filter(({ state, isConflict }) => state === 'excluded' || isConflict)
  return {
    destinations: Object.fromEntries(
      destinationStates.map(state => [state, count(destinations, state)]),
    ) as InstallationStatus['destinations'],
    sources: { enabled: count(sources, 'enabled'), excluded: count(sources, 'excluded') },
    problems: wrong.slice(0, maxObjects).map(({ kind, id, isConflict, problems }) => ({
      ...{ kind, id, conflict: isConflict, problems: shownProblems(problems) },
    })),
  }
}
