import type { AudienceDirectory } from '../../core/audience/directory.ts'
import type { AudienceInput } from '../../core/audience/input.ts'
import type { MembershipRecord } from '../../core/audience/record.ts'
import type { Stoppable } from '../../core/deletion/marks.ts'
import { type AudiencesVitals, audiencesHealth, type Health } from '../../core/health.ts'
import type { Metrics } from '../../core/metrics.ts'
import type {
  Clock,
  EventCodec,
  LogConsumer,
  Logger,
  LogProducer,
  PartitionReader,
  ValueCodec,
} from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { Tracer } from '../../core/trace/tracer.ts'
import { type DurationMs, durationMs, type EpochMs } from '../../core/units.ts'
import { showGroup } from '../partitions/group-gauges.ts'
import { createPartitions } from '../partitions/partitions.ts'
import { Gate } from './gate.ts'
import { showAudiences } from './gauges.ts'
import type { Held } from './inputs.ts'
import { createOwnedPartitions } from './owned-partitions.ts'

/** A write is answered within 10 s, and each state is written after its identify. */
const drainLimit = durationMs(8_000)

export interface AudiencesDeps {
  /** Of the audience-input topic. */
  readonly consumer: LogConsumer
  readonly reader: PartitionReader
  readonly producer: LogProducer
  readonly codecs: {
    readonly events: EventCodec
    readonly inputs: ValueCodec<AudienceInput>
    readonly memberships: ValueCodec<MembershipRecord>
  }
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
  readonly topics: TopicNames
  /** How long the dispatcher tries to deliver. */
  readonly window: DurationMs
  /** The configuration as of now. */
  readonly directory: () => AudienceDirectory
  readonly emitPerSecond: () => number
  /** Whether a deletion stops what is about a user; all deletions are known before the start. */
  readonly stops: (about: Stoppable, now: EpochMs) => 'user_deleted' | 'suppressed' | undefined
  readonly tracer?: Tracer | undefined
}

/** Observations and reports in, identify messages and memberships out, until stopped. */
export interface AudiencesService {
  /** Resolves when the group has been joined; memberships are restored after that. */
  start(): Promise<void>
  /** Starts nothing new, waits for what is being written, commits, leaves the group. */
  stop(): Promise<void>
  health(): Health
  /** Sets the gauges to what holds now. */
  refreshGauges(): void
}

export function createAudiencesService(deps: AudiencesDeps): AudiencesService {
  const { consumer, clock, metrics, logger } = deps
  const gate = new Gate(consumer)
  const { held, inputs, writes, emissions, logCheck, restoreInto } = createOwnedPartitions({ ...deps, gate })
  let phase: AudiencesVitals['phase'] = 'joining'

  const partitions = createPartitions({
    consumer,
    clock,
    maxInFlight: 0,
    dueAt: undefined,
    admission: {
      prefetchesDeeper: () => true,
      assigned: processor => void restoreInto(processor),
      // The partition is paused until it is restored.
      admit: (record, processor) => inputs.take(record, held.get(processor) as Held),
      admitted: () => undefined,
      revoked: processor => void held.delete(processor),
      handOver: () => undefined,
      released: () => {
        gate.release()
        for (const each of held.values()) inputs.goOn(each)
      },
    },
  })

  /** True: in time. */
  async function drained(): Promise<boolean> {
    const idle = Promise.all([...held.keys()].map(processor => processor.idle())).then(() => true)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const cancel = clock.after(drainLimit, () => resolve(false))
    return Promise.race([idle, promise]).finally(cancel)
  }

  return {
    async start() {
      await consumer.start(partitions.handlers)
      phase = 'joined'
      logCheck.start()
    },
    async stop() {
      phase = 'stopping'
      gate.close()
      logCheck.stop()
      if (!(await drained()))
        logger.warn({ waitedMs: drainLimit }, 'not everything was written in time; it is done again after the restart')
      await consumer.stop()
    },
    health: () =>
      audiencesHealth({
        phase,
        silenceMs: consumer.silence(),
        inactivityMs: consumer.inactivity(),
        partitions: [...partitions.processors()].length,
        restored: held.size,
        unwritableTopics: writes.unwritableTopics(),
      }),
    refreshGauges: () => {
      showGroup(metrics, 'audiences', { partitions, consumer })
      showAudiences(metrics, { held: [...held.values()], processors: [...partitions.processors()], emissions })
    },
  }
}
