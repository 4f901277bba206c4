import type { AudienceInput } from '../../core/audience/input.ts'
import type { ObjectChange } from '../../core/config-objects/config-objects.ts'
import { retryPolicyOf } from '../../core/delivery/retry-tier.ts'
import type { Routing } from '../../core/delivery/route.ts'
import { ConcurrencyLimiter } from '../../core/flow/concurrency-limiter.ts'
import { flowLimits } from '../../core/flow/flow-control-constants.ts'
import { PartitionShare } from '../../core/flow/limit-share-by-partitions.ts'
import type { DispatcherVitals, Health } from '../../core/health.ts'
import { ResultCounts } from '../../core/live-status/result-counts-of-this-process.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock, EventCodec, LogConsumer, Logger, LogProducer, LogRecord } from '../../core/ports.ts'
import type {
  CanarySettings,
  DeliverySettings,
  NoticesSettings,
  PayloadSettings,
  Webhook,
} from '../../core/settings/settings.ts'
import { type EpochMs, epochMs } from '../../core/time.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { Tracer } from '../../core/trace/tracer.ts'
import type { TokenClient, WebhookTransport } from '../../core/webhook-ports.ts'
import type { FailureWatch } from '../auto-disable/failure-watch.ts'
import { createCanary } from '../canary.ts'
import { createSuppressionCompaction } from '../deletion/remove-expired-suppressions.ts'
import type { SuppressionList } from '../deletion/suppression-list.ts'
import type { DispatcherActivity } from '../live-status/status-writer.ts'
import { createNotices, type Notices } from '../notices/notices.ts'
import { OwnershipGate } from '../partitions/ownership-gate.ts'
import { createPartitions, type LedgerWriter, type Partitions } from '../partitions/partitions.ts'
import { createEndOffsetCheck, type ReadEndOffsets } from '../partitions/read-end-offsets-for-lag.ts'
import type { PeriodicTask } from '../periodic-task.ts'
import { createAttemptRecords } from './attempt-records.ts'
import { AttemptStarter } from './attempt-starter.ts'
import { createAuthorize } from './authorized-transport.ts'
import { ConnectingRequests } from './connecting-requests.ts'
import type { DestinationState } from './delivery.ts'
import { createOriginReportRecord } from './delivery-result-report-record.ts'
import { createActivity } from './destination-activity-for-live-status.ts'
import { drain } from './drain-before-stop.ts'
import { followAssignment } from './follow-assignment-for-limit-share.ts'
import { createGauges } from './gauges.ts'
import { createVitals } from './health-check-values.ts'
import { Intake } from './intake.ts'
import { createLedgerWriter } from './ledger-writer.ts'
import { createMakeAttempt } from './make-attempt.ts'
import { DispatcherPartitionCallbacks } from './partition-callbacks.ts'
import { createSettle, type Settle } from './settle.ts'

export interface DispatcherDeps {
  /** Consumer of the events topic. */
  readonly live: LogConsumer
  /**
   * Consumer of all retry topics. It has its own group, so its rebalances never affect the events
   * topic.
   */
  readonly retries: LogConsumer
  readonly readEndOffsets: ReadEndOffsets
  /** Counts the partitions of the events topic. */
  readonly countPartitions: () => Promise<number>
  readonly producer: LogProducer
  readonly codec: EventCodec
  readonly encodeInput: (input: AudienceInput) => Buffer
  /** The suppression list. It must have been started. */
  readonly suppressions: SuppressionList
  readonly transport: WebhookTransport
  /** Sends the token requests of destinations with `auth.oauth2`. */
  readonly tokenClient: TokenClient
  /**
   * Producer of the attempts topic, with its own connections. `undefined` if
   * `delivery.attemptsTopic` is `off`.
   */
  readonly attemptProducer: LogProducer | undefined
  /** `undefined` when attempts are not traced. */
  readonly tracer: Tracer | undefined
  readonly clock: Clock
  /**
   * End of the latest period in which the process lacked CPU, in monotonic ms; `-Infinity` if none.
   */
  readonly cpuSaturatedUntil: () => number
  readonly metrics: Metrics
  readonly logger: Logger
  readonly topics: TopicNames
  readonly delivery: DeliverySettings
  /** `routing`, `payload`, `canary` and `notices` return parts of the current configuration. */
  readonly routing: () => Routing
  readonly payload: () => PayloadSettings
  readonly canary: () => CanarySettings | undefined
  readonly notices: () => NoticesSettings | undefined
  /** Adds a listener for changes of the config topic; `undefined` without a config topic. */
  readonly onObjectChange: ((listener: (change: ObjectChange) => void) => void) | undefined
  /** Disables destinations whose endpoints fail. Absent without a config topic. */
  readonly failures?: FailureWatch | undefined
}

/** Consumes events and due retries, and delivers them until stopped. */
export interface DispatcherService {
  /** Resolves when the consumers of events and of retries have joined their groups. */
  start(): Promise<void>
  /**
   * Admits no more records, starts no attempts, waits for requests and appends, commits the
   * offsets, and leaves the groups.
   */
  stop(): Promise<void>
  health(): Health
  refreshGauges(): void
  /** Topics with failed writes that the dispatcher still retries. */
  unwritableTopics(): readonly string[]
  /** The dispatcher's part of the process status. */
  readonly activity: DispatcherActivity
}

/*
 * The control flow. `--name-->` is a function call; `-->` without a name is a later callback.
 *
 * Admission: consumer --> Partitions --admit--> Intake --enqueue--> AttemptStarter
 * Start:     Partitions --admitted--> AttemptStarter --makeAttempt--> WebhookTransport
 * End:       WebhookTransport --> AttemptStarter --delivery--> Settle
 * Spillover: Partitions --admitted--> SpilloverController --defer--> Settle
 * Settling:  Settle --append--> retry topic, dead-letter topic
 * Commit:    Settle --release--> AdmittedRecord --done--> Intake --done--> OffsetTracker --> commit
 *
 * `AttemptStarter` keeps deliveries in `DestinationQueues` until `ConcurrencyLimiter` has permits.
 * It defers the deliveries that `CircuitBreaker` refuses.
 *
 * The flow is re-entrant: a finished record resumes its partition, which admits more records before
 * the call returns. `Partitions.admit` and the dispatch loop guard against recursion.
 */
export function createDispatcherService(deps: DispatcherDeps): DispatcherService {
  const { live, retries, clock, metrics, logger, topics, delivery } = deps
  const limiter = new ConcurrencyLimiter(delivery)
  const reportRecord = createOriginReportRecord({ topics, encodeInput: deps.encodeInput })
  const processors = (): ReturnType<Partitions['processors']> => livePartitions.processors()
  // The owner of partition 0 of the events topic runs the tasks that need only one process.
  const ownsPartition0 = (): boolean => [...processors()].some(({ partition }) => partition === 0)
  const notices = createNotices({ ...deps, processors, reportsConfigurationChanges: ownsPartition0 })
  deps.onObjectChange?.(notices.configurationChanged)
  const results = new ResultCounts()
  deps.failures?.onDisabled(notices.disabled)
  const gate = new OwnershipGate()
  const settle = createSettle({ ...deps, reportRecord, observer: notices.observer, results, gate })
  const share = new PartitionShare(clock.monotonic())
  const parts = { limiter, share, settle, results, oldestInProgressMs, onCallEnd, notices }
  const { starter, intake } = createFlow(deps, parts)
  const admission = new DispatcherPartitionCallbacks({ intake, starter, notices, gate })
  const dueAt = (record: LogRecord): EpochMs => epochMs(record.timestamp + (topics.tierOf(record.topic) ?? 0))
  const ledger = createLedgerWriter({ ...deps, topics, clock, metrics, logger })
  const shared = { clock, logger, maxInFlight: delivery.maxInFlight, admission, ledger }
  const livePartitions = createPartitions({ ...shared, consumer: live, dueAt: undefined })
  const retryPartitions = createPartitions({ ...shared, consumer: retries, dueAt })
  const following = followAssignment({ ...deps, ...livePartitions, share, onChange: () => starter.release() })
  const groups = {
    dispatcher: { partitions: livePartitions, consumer: live },
    retries: { partitions: retryPartitions, consumer: retries },
  }
  const inProgress = { open: () => intake.open, states: () => starter.states, oldestInProgressMs }
  const shown = { limiter, delivery, groups, ...inProgress, findState: (id: string) => starter.findState(id) }
  const refreshGauges = createGauges({ ...deps, ...shown })
  const vitals = createVitals({ ...deps, groups, oldestInProgressMs, unwritableTopics: settle.unwritableTopics })
  const allProcessors = () => [livePartitions, retryPartitions].flatMap(each => [...each.processors()])
  const tasks = [...createTasks(deps, ownsPartition0), createEndOffsetCheck({ ...deps, processors: allProcessors })]
  let phase: DispatcherVitals['phase'] = 'joining'

  const isBusy = (): boolean => starter.inProgress > 0 || limiter.inFlight > 0 || settle.unacknowledged() > 0

  function handOver(): void {
    for (const processor of allProcessors()) admission.handOver(processor)
  }

  function onCallEnd(target: DestinationState): void {
    vitals.noteRequestEnd()
    starter.noteEnded(target)
  }

  function oldestInProgressMs(): number {
    const [oldest] = intake.open
    return oldest === undefined ? 0 : clock.monotonic() - oldest.admittedAt
  }

  return {
    async start() {
      following.start()
      await Promise.all([live.start(following.handlers), retries.start(retryPartitions.handlers)])
      phase = 'joined'
      for (const task of tasks) task.start()
      notices.start()
    },
    async stop() {
      phase = 'stopping'
      for (const task of tasks) task.stop()
      admission.close(allProcessors())
      following.stop()
      if (!(await drain({ clock, isBusy, handOver }))) logger.warn({ waitedMs: flowLimits.drain.timeout }, notDrained)
      notices.stop()
      await Promise.all([livePartitions, retryPartitions].map(each => writeLedgerCounts(ledger, each)))
      await Promise.all([live.stop(), retries.stop()])
    },
    health: () => vitals.health(phase),
    refreshGauges,
    unwritableTopics: settle.unwritableTopics,
    activity: createActivity({ ...deps, results, starter, processors }),
  }
}

const createTasks = (deps: DispatcherDeps, ownsPartition0: () => boolean): readonly PeriodicTask[] =>
  [
    createSuppressionCompaction({ ...deps, compactsTopic: ownsPartition0 }),
    createCanary({ ...deps, sendsMessages: ownsPartition0 }),
    deps.failures,
  ].filter(task => task !== undefined)

/**
 * Writes ledger records until the counts of each partition fit into the metadata of its next offset
 * commit. After at most 5 s, discards the counts that do not fit.
 */
const writeLedgerCounts = (ledger: LedgerWriter, { processors }: Partitions): Promise<unknown> =>
  Promise.all([...processors()].map(each => ledger.writeUntilCountsFit(each, Number.POSITIVE_INFINITY)))

const notDrained =
  'shutdown timed out before all deliveries in progress ended; the offsets of unfinished records are not committed, so the next owner of their partitions processes these records again, and receivers may get some events twice'

interface FlowParts {
  readonly limiter: ConcurrencyLimiter
  readonly share: PartitionShare
  readonly settle: Settle
  readonly results: ResultCounts
  readonly oldestInProgressMs: () => number
  readonly onCallEnd: (target: DestinationState) => void
  readonly notices: Notices
}

function createFlow(
  deps: DispatcherDeps,
  { limiter, share, settle, results, oldestInProgressMs, onCallEnd, notices }: FlowParts,
): { readonly starter: AttemptStarter; readonly intake: Intake } {
  const { suppressions, clock, metrics, logger, topics, codec, delivery, routing, payload, transport, tracer } = deps
  const { attemptProducer, cpuSaturatedUntil, tokenClient } = deps
  const userAgent = (): string => payload().userAgent
  const { observer } = notices
  const { failures } = deps
  const gone = (destination: string, webhook: Webhook): void => {
    observer.gone(destination, webhook)
    failures?.gone(destination, webhook)
  }
  const policy = retryPolicyOf(delivery)
  const onFree = (): void => starter.noteEnded(undefined)
  const connecting = new ConnectingRequests({ transport, clock, cpuSaturatedUntil, onFree })
  const calling = { transport: connecting, clock, metrics, logger }
  const starter: AttemptStarter = new AttemptStarter({
    routing,
    payload,
    delivery,
    policy,
    limiter,
    connecting,
    share,
    holdsLease: () => deps.live.holdsLease(),
    authorize: createAuthorize({ ...calling, client: tokenClient, timeout: delivery.timeout, userAgent }),
    makeAttempt: createMakeAttempt({ ...calling, limiter, observer: { gone }, onCallEnd, tracer }),
    settle,
    results,
    suppressions,
    clock,
    oldestInProgressMs,
    cpuSaturatedUntil,
    metrics,
    logger,
    observer,
    failures,
    attemptRecords:
      attemptProducer &&
      createAttemptRecords({ producer: attemptProducer, topics, metrics, recorded: deps.delivery.attemptsTopic }),
    tracer,
  })
  suppressions.onCurrent(() => starter.release())
  const intake = new Intake({
    codec,
    routing,
    payload,
    delivery,
    policy,
    topics,
    clock,
    metrics,
    logger,
    settle,
    starter,
    suppressions,
    notices,
    results,
  })
  return { starter, intake }
}
