import type { AudienceInput } from '../../core/audience/input.ts'
import { Places } from '../../core/delivery/places.ts'
import type { Routing } from '../../core/delivery/route.ts'
import type { DispatcherVitals, Health } from '../../core/health.ts'
import type { Metrics } from '../../core/metrics.ts'
import type {
  Clock,
  EventCodec,
  LogConsumer,
  Logger,
  LogProducer,
  LogRecord,
  WebhookTransport,
} from '../../core/ports.ts'
import type { CanarySettings, DeliverySettings, PayloadSettings } from '../../core/settings.ts'
import { type TopicNames, tiersOf } from '../../core/topics.ts'
import type { Tracer } from '../../core/trace/tracer.ts'
import { type EpochMs, epochMs } from '../../core/units.ts'
import { createCanary } from '../canary.ts'
import type { Marks } from '../deletion/marks.ts'
import { createUpkeep } from '../deletion/upkeep.ts'
import { createPartitions } from '../partitions/partitions.ts'
import type { Shard } from '../partitions/shard.ts'
import { createAttemptRecords } from './attempt-records.ts'
import { createAttempts } from './attempts.ts'
import type { DestinationLane } from './delivery.ts'
import { Dispatcher } from './dispatcher.ts'
import { drain, drainLimit } from './drain.ts'
import { createGauges } from './gauges.ts'
import { Intake } from './intake.ts'
import { createReportRecord } from './reports.ts'
import { createSettle } from './settle.ts'
import { createVitals } from './vitals.ts'

export interface DispatcherDeps {
  /** Of the events topic. */
  readonly live: LogConsumer
  /** Of all retry topics, a group of its own: a rebalance or a parked partition there never touches live traffic. */
  readonly retries: LogConsumer
  readonly producer: LogProducer
  readonly codec: EventCodec
  readonly encodeInput: (input: AudienceInput) => Buffer
  /** Of deleted users; started before. */
  readonly marks: Marks
  readonly transport: WebhookTransport
  /** Of `delivery.attemptsTopic`, with connections of its own; undefined: it is off. */
  readonly attemptProducer?: LogProducer | undefined
  readonly tracer?: Tracer | undefined
  readonly clock: Clock
  /** Until when the process was out of CPU, in monotonic milliseconds. */
  readonly outOfCpuUntil: () => number
  readonly metrics: Metrics
  readonly logger: Logger
  readonly topics: TopicNames
  readonly delivery: DeliverySettings
  /** The configuration as of now. */
  readonly routing: () => Routing
  readonly payload: () => PayloadSettings
  readonly canary: () => CanarySettings | undefined
}

/** Events and due retries in, deliveries out, until stopped. */
export interface DispatcherService {
  /** Resolves when both groups have been joined. */
  start(): Promise<void>
  /** Starts nothing new, waits for what is under way, commits, leaves the groups. */
  stop(): Promise<void>
  health(): Health
  /** Sets the gauges to what holds now. */
  refreshGauges(): void
}

export function createDispatcherService(deps: DispatcherDeps): DispatcherService {
  const { live, retries, marks, clock, logger, topics, delivery: limits } = deps
  const places = new Places(limits)
  const settle = createSettle({ ...deps, reportRecord: createReportRecord(deps) })
  const policy = { schedule: limits.schedule, window: limits.window, tiers: tiersOf(limits.schedule) }
  const makeAttempt = createAttempts({ ...deps, places, onCallEnd })
  const recordAttempt = deps.attemptProducer && createAttemptRecords({ ...deps, producer: deps.attemptProducer })
  const parts = { oldestOpenMs, policy, places, makeAttempt, settle, recordAttempt }
  const dispatcher: Dispatcher = new Dispatcher({ ...deps, ...parts })
  marks.onCurrent(() => dispatcher.release())
  const intake = new Intake({ ...deps, policy, settle, dispatcher })
  const dueAt = (record: LogRecord): EpochMs => epochMs(record.timestamp + (topics.tierOf(record.topic) ?? 0))
  const taken = {
    clock,
    maxInFlight: limits.maxInFlight,
    looksOn: () => dispatcher.isClogged,
    onRecord: (record: LogRecord, shard: Shard) => intake.take(record, shard),
    onTakenUp: (shard: Shard) => {
      dispatcher.pump()
      dispatcher.relieve(shard)
    },
    onRevoked: (shard: Shard) => intake.forget(shard),
    onHandOver: (shard: Shard) => dispatcher.handOver(shard),
    onRelease: () => dispatcher.release(),
  }
  const livePartitions = createPartitions({ ...taken, consumer: live, dueAt: undefined })
  const parkedPartitions = createPartitions({ ...taken, consumer: retries, dueAt })
  const groups = {
    dispatcher: { partitions: livePartitions, consumer: live },
    retries: { partitions: parkedPartitions, consumer: retries },
  }
  const { unwritableTopics } = settle
  const refreshGauges = createGauges({
    ...{ ...deps, places, oldestOpenMs, open: () => intake.open, unwritableTopics, groups },
  })
  const vitals = createVitals({ ...deps, groups, oldestOpenMs, unwritableTopics })
  // One of the processes has the first partition, whatever the others do.
  const isFirst = (): boolean => [...livePartitions.shards()].some(({ partition }) => partition === 0)
  const chores = [createUpkeep({ ...deps, isOurs: isFirst }), createCanary({ ...deps, isOurs: isFirst })]
  let phase: DispatcherVitals['phase'] = 'joining'

  const isBusy = (): boolean => dispatcher.underWay > 0 || places.inFlight > 0 || settle.unacknowledged() > 0

  function handOver(): void {
    for (const { shards } of [livePartitions, parkedPartitions])
      for (const shard of shards()) dispatcher.handOver(shard)
  }

  function onCallEnd(lane: DestinationLane): void {
    vitals.noteCallEnd()
    dispatcher.goOn(lane)
  }

  function oldestOpenMs(): number {
    const [oldest] = intake.open
    return oldest === undefined ? 0 : clock.monotonic() - oldest.takenUpAt
  }

  return {
    async start() {
      await Promise.all([live.start(livePartitions.handlers), retries.start(parkedPartitions.handlers)])
      phase = 'joined'
      for (const chore of chores) chore.start()
    },
    async stop() {
      phase = 'stopping'
      for (const chore of chores) chore.stop()
      dispatcher.close()
      if (!(await drain({ clock, isBusy, handOver })))
        logger.warn({ waitedMs: drainLimit }, 'not everything has ended in time; it is done again after the restart')
      await Promise.all([live.stop(), retries.stop()])
    },
    health: () => vitals.health(phase),
    refreshGauges,
  }
}
