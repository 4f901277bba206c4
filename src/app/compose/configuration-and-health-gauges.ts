import { createHash } from 'node:crypto'
import { library } from '../../../packages/client/src/version.ts'
import type { Merged } from '../../core/config-objects/merge-objects.ts'
import type { Health } from '../../core/health.ts'
import { isObject, withSortedKeys } from '../../core/message/json.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { EpochMs } from '../../core/time.ts'
import { topicSpecsOf } from '../../core/topics.ts'
import type { StartedService } from './shared-dependencies.ts'

/** Sets the gauges that do not change while the process runs. */
export function setBuildMetrics(metrics: Metrics, settings: Settings): void {
  metrics.build.set({ version: library.version, node: process.versions.node }, 1)
  for (const { name, retention } of topicSpecsOf(settings))
    if (retention !== undefined) metrics.topicRetention.set({ topic: name }, retention / 1000)
}

/** Sets the gauges of the configuration that is in use from `now` on. */
export function setConfigurationMetrics(metrics: Metrics, settings: Settings, now: EpochMs): void {
  metrics.config.reset()
  metrics.config.set({ hash: hashOf(settings) }, 1)
  metrics.configExcluded.set({}, settings.excluded?.files ?? 0)
  metrics.configReloadOk.set({}, 1)
  metrics.configReloadTime.set({}, now / 1000)
}

/** Sets the gauges of the destinations and of the objects of the config topic. */
export function setObjectMetrics(metrics: Metrics, { settings, counts, oldSeals }: Merged): void {
  const count = { enabled: 0, paused: 0, disabled: 0 }
  for (const { enabled, paused } of settings.destinations)
    count[enabled ? (paused ? 'paused' : 'enabled') : 'disabled']++
  for (const state of ['enabled', 'paused', 'disabled'] as const) metrics.destinations.set({ state }, count[state])
  for (const state of ['used', 'excluded'] as const) metrics.configObjects.set({ state }, counts[state])
  metrics.configConflicts.set({}, counts.conflict)
  metrics.configOldSeals.set({}, oldSeals)
}

/**
 * Sets the gauges of all services. A service must not call `reset`: this would remove the series of
 * the other services.
 */
export function refreshServices(metrics: Metrics, services: readonly Omit<StartedService, 'health'>[]): void {
  metrics.partitionProgress.reset()
  metrics.oldestRecord.reset()
  for (const service of services) service.refreshGauges()
  const unwritable = new Set(services.flatMap(service => service.unwritableTopics?.() ?? []))
  metrics.unwritableTopics.set({}, unwritable.size)
}

/** Sets the gauge of each liveness and readiness check. */
export function setCheckMetrics(metrics: Metrics, health: Health): void {
  metrics.checks.reset()
  for (const probe of ['live', 'ready'] as const)
    for (const { name, ok } of health[probe]) metrics.checks.set({ probe, check: name }, ok ? 1 : 0)
}

/**
 * The hash of the configuration, as a metric label.
 * - Values of headers are left out, because they may be secrets.
 * - Values that can differ between processes are left out, because all processes must have the same
 *   hash. One example is values from files that only some services read. Another is
 *   `operatorListen`: only processes with the operator service must restart to use a new value.
 * - `settings` must not have objects of the config topic: each change would create a time series.
 */
function hashOf(settings: Settings): string {
  const text = JSON.stringify(settings, (key, value) => {
    if (key === 'urlHash' || key === 'operatorListen') return undefined
    if (key === 'tlsIdentity' || key === 'cert') return value === undefined ? undefined : true
    if (key === 'headers') return Object.keys(value).sort()
    if (!isObject(value)) return value
    return withSortedKeys(key === 'network' ? { ...value, ca: undefined } : value)
  })
  return createHash('sha256').update(text).digest('hex').slice(0, 8)
}
