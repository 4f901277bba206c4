import { createMembershipCodec } from '../../adapters/avro/audience-codecs.ts'
import { systemClock, systemTime } from '../../adapters/clock/clock.ts'
import { createOpsServer } from '../../adapters/http/ops.ts'
import { createReader } from '../../adapters/kafka/log/reader.ts'
import { createMetrics } from '../../adapters/metrics/metrics.ts'
import { allHealth, type ConfigurationFile, configurationHealth, type Health } from '../../core/health.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { AuditLog } from '../../core/operator/operator-api.ts'
import type { Logger } from '../../core/ports.ts'
import type { ServiceName } from '../../core/settings/service-names.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { durationMs } from '../../core/units.ts'
import { createAudiencesService } from '../../services/audiences/audiences.ts'
import { createClockWatch } from '../../services/broker-time.ts'
import { Lifecycle } from '../lifecycle.ts'
import { startCollector } from './compose-collector.ts'
import { startDispatcher } from './compose-dispatcher.ts'
import { counted, showBuild, showChecks, showConfiguration } from './runtime-gauges.ts'
import {
  createGroupConsumer,
  createSharedDependencies,
  liveOf,
  type RunningPart,
  type SharedDependencies,
} from './shared-dependencies.ts'

interface Deps {
  readonly settings: Settings
  readonly services: ReadonlySet<ServiceName>
  readonly logger: Logger
  readonly audit: AuditLog
  /** The process cannot go on: it must exit with 1. */
  readonly onFatal: (error: Error) => void
  /** Aborted when the process is to stop, also while it starts. */
  readonly stopAsked: AbortSignal
}

/** Where a process can be reached; URLs. */
export interface Addresses {
  /** Undefined: no collector runs in it. */
  readonly collector: string | undefined
  /** Undefined: no collector runs in it, or no operator key is configured. */
  readonly operator: string | undefined
  readonly ops: string
}

/** The services of one process, wired to the real world. */
export interface Composition {
  readonly metrics: Metrics
  /**
   * Resolves when everything runs.
   * @throws TopicsMissing, and what the parts throw; nothing is left running then.
   */
  start(): Promise<Addresses>
  /** Drains, commits and ends everything. */
  stop(): Promise<void>
  /** Takes over what is live of a changed configuration. */
  apply(settings: Settings): void
  /** For whoever asks what is in use. */
  noteFile(file: ConfigurationFile): void
}

export function compose(deps: Deps): Composition {
  const { settings, services, audit, onFatal, stopAsked } = deps
  const { metrics, ...exposition } = createMetrics()
  const logger = counted(deps.logger, metrics)
  const lifecycle = new Lifecycle(logger)
  let live = liveOf(settings)
  const running = new Map<ServiceName, RunningPart>()
  let file: ConfigurationFile = { kind: 'accepted', needRestart: [] }
  let inUseSince = systemClock.now()
  const health = (): Health =>
    allHealth([
      ...[...services].map(name => running.get(name)?.health() ?? starting(name)),
      configurationHealth(file, inUseSince),
    ])
  exposition.onCollect(() => {
    for (const part of running.values()) part.refreshGauges()
    metrics.clockOffset.set({}, systemTime.offset() / 1000)
    showChecks(metrics, health())
  })
  showBuild(metrics, settings)
  showConfiguration(metrics, settings, inUseSince)

  async function start(): Promise<Addresses> {
    let ops = ''
    const server = createOpsServer({ listen: settings.ops.listen, health, metrics: exposition })
    await lifecycle.start({ name: 'ops server', start: async () => (ops = await server.start()), stop: server.stop })
    const watch = createClockWatch({ clock: systemClock, offset: systemTime.offset, logger })
    await lifecycle.start({ name: 'clock watch', start: async () => watch.start(), stop: async () => watch.stop() })
    const surroundings = { settings, live: () => live, lifecycle, metrics, logger, audit, onFatal, stopAsked }
    const foundation = await createSharedDependencies(surroundings, services)
    if (services.has('dispatcher')) running.set('dispatcher', await startDispatcher(foundation))
    if (services.has('audiences')) running.set('audiences', await startAudiences(foundation))
    // Last: it lets requests in, and at the stop it is the first to let none in any more.
    const collector = services.has('collector') ? await startCollector(foundation) : undefined
    if (collector !== undefined) running.set('collector', collector)
    return { collector: collector?.url, operator: collector?.operatorUrl, ops }
  }

  return {
    metrics,
    start: () =>
      start().catch(async error => {
        await lifecycle.stop()
        throw error
      }),
    stop: () => lifecycle.stop(),
    apply: changed => {
      live = liveOf(changed)
      inUseSince = systemClock.now()
      showConfiguration(metrics, changed, inUseSince)
    },
    noteFile: seen => {
      file = seen
    },
  }
}

const starting = (name: ServiceName): Health => ({ live: [], ready: [{ name, ok: false, detail: 'starting' }] })

/** Nobody waits for a sync in milliseconds. */
const maxWait = durationMs(500)

/** Syncs to identify messages. Resolves when the group has been joined. */
async function startAudiences(foundation: SharedDependencies): Promise<RunningPart> {
  const { settings, live, lifecycle, metrics, logger, clock, topics, kafka, registry } = foundation
  const consumer = createGroupConsumer(foundation, {
    group: 'audiences',
    groupId: topics.audiencesGroup,
    topics: [topics.audienceInput],
    maxWait,
    onLoss: 'inputs gone before they were read: what they said holds only from the next sync on',
  })
  // Every series exists from the start: Prometheus sees no increase in a series that begins above 0.
  for (const topic of [topics.events, topics.memberships, topics.deadLetter]) metrics.produceFailures.inc({ topic }, 0)
  const audiences = createAudiencesService({
    ...foundation,
    consumer,
    reader: createReader({ kafka, clock, logger }),
    codecs: {
      events: foundation.codec,
      inputs: foundation.inputCodec,
      memberships: await createMembershipCodec({ registry, topic: topics.memberships, clock }),
    },
    window: settings.delivery.window,
    directory: () => live().audiences,
    emitPerSecond: () => live().emitPerSecond,
    stops: foundation.marks.stops,
  })
  await lifecycle.start({ name: 'audiences', start: audiences.start, stop: audiences.stop })
  return audiences
}
