import type { ConfigObject, ConfigObjects } from '../../core/config-objects/config-objects.ts'
import type { LogSession, WithLogSession } from '../../core/log-session.ts'
import { toIsoTimestamp } from '../../core/message/timestamp.ts'
import type {
  DestinationStatus,
  GroupLag,
  InstallationStatus,
} from '../../core/operator/installation-and-destination-status.ts'
import { notFound, type ObjectRefusal, shownProblems } from '../../core/operator/object-refusal.ts'
import { type DestinationState, destinationStates, disablingViewOf, stateOf } from '../../core/operator/object-view.ts'
import { ReadBudget, type ReadLimits } from '../../core/operator/read-budget.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import { durationMs, formatDuration } from '../../core/time.ts'
import type { TopicNames } from '../../core/topics.ts'
import { within } from '../../core/within-time-limit.ts'
import type { StatusView } from '../live-status/status-view.ts'
import { existingTiers, type RetryTiers } from './existing-retry-tiers.ts'
import { liveDestination, liveInstallation } from './live-status-fields.ts'
import type { ReadLog } from './messages-and-dead-letters.ts'
import { createReadQueue } from './one-read-at-a-time.ts'
import { readWaitingDeliveries } from './waiting-deliveries.ts'

export interface ReadStatusDeps extends RetryTiers {
  readonly objects: Pick<ConfigObjects, 'list' | 'get'>
  readonly sessions: WithLogSession
  readonly topics: TopicNames
  readonly log: Pick<ReadLog, 'lastFailures'>
  readonly version: string
  /** What the processes report about themselves on the status topic. */
  readonly live: StatusView
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Limits of the reads for one status request: number of records, and time in ms. An idle core can
 * read 50,000 records in 600 ms.
 */
export const statusLimits: ReadLimits = { records: 50_000, time: 600 }
/** Maximum time until the response, including the waits for other requests and for Kafka. */
export const maxStatusTime = durationMs(1_800)
/**
 * Maximum time of a read, in ms: the time in `statusLimits`, and 400 ms for the last chunk of
 * records.
 */
const readMs = 1_000
/** Maximum number of objects with problems in the installation status. */
const maxObjects = 100

interface ReadStatus {
  status(): Promise<InstallationStatus>
  destinationStatus(id: string): Promise<DestinationStatus | ObjectRefusal>
}

/**
 * Reads the state of the installation for one request at a time. After `maxStatusTime`, a request
 * gets only what is known without Kafka.
 */
export function createReadStatus(deps: ReadStatusDeps): ReadStatus {
  const { objects, topics, live, clock } = deps
  const inTurn = createReadQueue(clock, maxStatusTime)

  async function status(until: number): Promise<InstallationStatus> {
    const { dispatcherGroup, retriesGroup, audiencesGroup } = topics
    const lags: Lag[] = []
    const isRead = await readInSession(deps, until, async session => {
      const tiers = await existingTiers(session, deps)
      const asked = [
        { group: dispatcherGroup, topic: topics.events },
        ...tiers.map(tier => ({ group: retriesGroup, topic: topics.retry(tier) })),
        { group: audiencesGroup, topic: topics.audienceInput },
      ]
      // If the first try fails, this callback runs a second time. A retry topic may have been
      // deleted in between, so the lags of the first try are removed.
      lags.length = 0
      await readLags(session, asked, lags)
      return true
    })
    // `lags` has no value for a topic whose offsets Kafka did not report.
    const known = lags.filter(lag => lag !== undefined)
    const groups = [...Map.groupBy(known, ({ group }) => group)].map(
      ([group, of]): GroupLag => ({ group, topics: of.map(({ topic, lag }) => ({ topic, lag })) }),
    )
    const waiting = known.flatMap(({ topic, lag }) => {
      const tier = topics.tierOf(topic)
      return tier === undefined ? [] : [{ tier: formatDuration(tier), records: lag }]
    })
    return {
      at: toIsoTimestamp(clock.now()),
      version: deps.version,
      ...((isRead === undefined || !live.isCurrent()) && { partial: true }),
      groups,
      waiting,
      ...configurationOf(objects),
      ...liveInstallation(live, id => objects.get('destination', id) !== undefined, clock.now()),
    }
  }

  async function destinationStatus(id: string, until: number): Promise<DestinationStatus | ObjectRefusal> {
    const object = objects.get('destination', id)
    if (object === undefined) return notFound
    return statusOf(deps, object, until)
  }

  return {
    status: () => inTurn('', status),
    destinationStatus: id => inTurn(id, until => destinationStatus(id, until)),
  }
}

const stateIn = (object: ConfigObject) => ({
  ...{ state: stateOf(object), version: object.version, problems: shownProblems(object.problems) },
  disabledAutomatically: disablingViewOf(object.disabledAutomatically),
})

/**
 * Resolves with the result of `read`, or with `undefined` after `until`. If less than `readMs` is
 * left, resolves immediately with `undefined`: a late read would delay later requests.
 */
async function readInTime<T>(clock: Clock, until: number, read: () => Promise<T>): Promise<T | undefined> {
  const left = until - clock.monotonic()
  return left < readMs ? undefined : within(clock, durationMs(left), read(), () => undefined)
}

/**
 * Calls `use` with a log session. Resolves with `undefined` if Kafka fails or the time does not
 * suffice.
 */
function readInSession<T>(
  { sessions, clock, logger }: Pick<ReadStatusDeps, 'sessions' | 'clock' | 'logger'>,
  until: number,
  use: (session: LogSession) => Promise<T>,
): Promise<T | undefined> {
  return readInTime(clock, until, () =>
    sessions(use).catch((error: unknown) => {
      logger.warn(
        { error: (error as Error).message },
        'hookline could not read from Kafka for a status request to the operator API (see "error"), so the response has "partial": true, and some of its numbers are missing or too low; if this line repeats, check Kafka',
      )
      return undefined
    }),
  )
}

interface Lag {
  readonly group: string
  readonly topic: string
  readonly lag: number
}

/**
 * Writes each topic's lag to `lags`. Rejects only after all requests have ended, because the caller
 * then closes the session that they use.
 */
async function readLags(session: LogSession, asked: readonly Omit<Lag, 'lag'>[], lags: Lag[]): Promise<void> {
  const reads = asked.map(async ({ group, topic }, index) => {
    const [ranges, commits] = [await session.ranges(topic), await session.commits(group, topic)]
    const lag = ranges.reduce((sum, { end }, partition) => sum + lagBetween(commits[partition]?.offset, end), 0)
    lags[index] = { group, topic, lag }
  })
  await Promise.allSettled(reads)
  await Promise.all(reads)
}

async function statusOf(deps: ReadStatusDeps, object: ConfigObject, until: number): Promise<DestinationStatus> {
  const { live, clock, log } = deps
  const { id } = object
  const budget = new ReadBudget(statusLimits, () => clock.monotonic())
  // The two reads are concurrent. Otherwise, the first one could use up the time of the second one
  // while Kafka does not respond.
  const [read, failures] = await Promise.all([
    readInSession(deps, until, session => readWaitingDeliveries(session, deps, id, budget)),
    readInTime(clock, until, () => log.lastFailures(id)),
  ])
  const { waiting, isPartial } = read ?? { waiting: [], isPartial: true }
  return {
    kind: 'status',
    ...{ id, ...stateIn(object) },
    ...((isPartial || failures?.isPartial !== false || !live.isCurrent()) && { partial: true }),
    waiting,
    ...(failures?.lastFailures !== undefined && { lastFailures: failures.lastFailures }),
    ...liveDestination(live, id, clock.now()),
  }
}

/**
 * Number of offsets from the committed one, or from 0 without a commit, to the end of the
 * partition.
 */
const lagBetween = (committed: number | undefined, end: number): number =>
  Math.max(0, end - Math.max(0, committed ?? 0))

function configurationOf(
  objects: ReadStatusDeps['objects'],
): Pick<InstallationStatus, 'destinations' | 'sources' | 'problems' | 'problemCount'> {
  const [destinations, sources] = [objects.list('destination'), objects.list('source')]
  const count = (of: readonly ConfigObject[], state: DestinationState): number =>
    of.filter(object => stateOf(object) === state).length
  const wrong = [...destinations, ...sources].filter(({ problems, isConflict }) => problems.length > 0 || isConflict)
  return {
    destinations: Object.fromEntries(
      destinationStates.map(state => [state, count(destinations, state)]),
    ) as InstallationStatus['destinations'],
    sources: { enabled: count(sources, 'enabled'), excluded: count(sources, 'excluded') },
    problems: wrong.slice(0, maxObjects).map(({ kind, id, isConflict, problems }) => ({
      ...{ kind, id, conflict: isConflict, problems: shownProblems(problems) },
    })),
    problemCount: wrong.length,
  }
}
