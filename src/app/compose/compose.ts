import { processClock, processTime } from '../../adapters/clock/process-clock.ts'
import { createOpsServer } from '../../adapters/http/ops-server.ts'
import { createMetrics } from '../../adapters/metrics/metrics.ts'
import { allHealth, configurationHealth, type Health, type ReloadState } from '../../core/health.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { AuditLog } from '../../core/operator/audit-log.ts'
import type { Logger } from '../../core/ports.ts'
import type { ServiceName } from '../../core/settings/service-names.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { createClockWatch } from '../../services/clock-watch.ts'
import { Lifecycle } from '../lifecycle.ts'
import {
  refreshServices,
  setBuildMetrics,
  setCheckMetrics,
  setConfigurationMetrics,
  setObjectMetrics,
} from './configuration-and-health-gauges.ts'
import { countLogLines } from './count-log-lines.ts'
import { holdLiveSettings } from './live-settings.ts'
import { createMergedSettings } from './merged-settings.ts'
import { createSharedDependencies, type StartedService } from './shared-dependencies.ts'
import { startServer } from './start-http-server.ts'
import { startStatusWriter } from './start-live-status.ts'

interface Deps {
  readonly settings: Settings
  readonly services: ReadonlySet<ServiceName>
  readonly logger: Logger
  readonly audit: AuditLog
  /** Called at a fatal error. The process must then exit with code 1. */
  readonly onFatal: (error: Error) => void
  /** Aborted when the process must stop, even during its start. */
  readonly stopAsked: AbortSignal
  /** Whether to wait for missing topics and schemas, and for the schema registry. */
  readonly waitForSetup: boolean
}

/** The URLs of the HTTP servers of a process. */
export interface Addresses {
  /** `undefined` in a process without the collector. */
  readonly collector: string | undefined
  /** `undefined` without the operator service or a key in `operator.keys`. */
  readonly operator: string | undefined
  readonly ops: string
}

/** The services of one process, connected to Kafka, HTTP and the clock. */
export interface Composition {
  readonly metrics: Metrics
  /**
   * Resolves when all services run.
   * @throws an error of `awaitSetup` or of a component, after all components were stopped
   */
  start(): Promise<Addresses>
  /** Drains the services, commits offsets and stops all components. */
  stop(): Promise<void>
  /** Applies the settings that can change without a restart. */
  apply(settings: Settings): void
  /** Records the state of the configuration file for the health report. */
  noteFile(file: ReloadState): void
}

/**
 * Each function loads the code of one service. A process loads only the services that it runs,
 * because all services together take about 12 MB more memory than one.
 */
const load = {
  dispatcher: () => import('./start-dispatcher.ts'),
  audiences: () => import('./start-audiences.ts'),
  collector: () => import('./start-collector.ts'),
  operator: () => import('./start-operator.ts'),
}

export function compose(deps: Deps): Composition {
  const { settings, services, audit, onFatal, stopAsked, waitForSetup } = deps
  const { metrics, ...exposition } = createMetrics()
  const logger = countLogLines(deps.logger, metrics)
  const lifecycle = new Lifecycle(logger)
  const live = holdLiveSettings(settings)
  const merged = createMergedSettings({ file: settings, apply: live.apply, clock: processClock })
  const running = new Map<ServiceName, StartedService>()
  let file: ReloadState = { kind: 'accepted', needRestart: [] }
  let inUseSince = processClock.now()
  const health = (): Health =>
    allHealth([
      ...[...services].map(name => running.get(name)?.health() ?? starting(name)),
      configurationHealth(file, inUseSince),
    ])
  exposition.onCollect(() => {
    refreshServices(metrics, [...running.values()])
    metrics.clockOffset.set({}, processTime.clockAheadMs() / 1000)
    metrics.configObjectsAge.set({}, merged.objectsAge() / 1000)
    setObjectMetrics(metrics, merged.get())
    setCheckMetrics(metrics, health())
  })
  setBuildMetrics(metrics, settings)
  setConfigurationMetrics(metrics, settings, inUseSince)

  async function start(): Promise<Addresses> {
    let ops = ''
    const server = createOpsServer({ listen: settings.ops.listen, health, metrics: exposition })
    const listen = async (): Promise<string> => (ops = await startServer('ops.listen', server))
    await lifecycle.start({ name: 'ops server', start: listen, stop: server.stop })
    const watch = createClockWatch({ clock: processClock, clockAheadMs: processTime.clockAheadMs, logger })
    await lifecycle.start({ name: 'clock watch', start: async () => watch.start(), stop: async () => watch.stop() })
    const state = { settings, live: live.get, merged, lifecycle, metrics, logger, audit }
    const context = { ...state, onFatal, stopAsked, waitForSetup }
    const shared = await createSharedDependencies(context, services)
    const status = await startStatusWriter(shared, services)
    if (services.has('dispatcher')) {
      const dispatcher = await (await load.dispatcher()).startDispatcher(shared)
      status.include(dispatcher.activity)
      running.set('dispatcher', dispatcher)
    }
    if (services.has('audiences')) running.set('audiences', await (await load.audiences()).startAudiences(shared))
    // The collector and the operator service start last. Components stop in reverse order, so these
    // two stop first, and no request arrives while other components stop.
    const collector = services.has('collector') ? await (await load.collector()).startCollector(shared) : undefined
    if (collector !== undefined) running.set('collector', collector)
    const operator = services.has('operator') ? await (await load.operator()).startOperator(shared) : undefined
    if (operator !== undefined) running.set('operator', operator)
    return { collector: collector?.url, operator: operator?.url, ops }
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
      inUseSince = processClock.now()
      setConfigurationMetrics(metrics, changed, inUseSince)
      merged.applyFile(changed)
    },
    noteFile: seen => {
      file = seen
    },
  }
}

const starting = (name: ServiceName): Health => ({ live: [], ready: [{ name, ok: false, detail: 'starting' }] })
