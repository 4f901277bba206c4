import { type AudienceDirectory, audienceDirectory } from '../../core/audience/configured-audiences.ts'
import { createSourceKeys, type SourceKeys } from '../../core/collector/source-keys.ts'
import type { Merged } from '../../core/config-objects/merge-objects.ts'
import { createRouting, type Routing, withChangedDestinations } from '../../core/delivery/route.ts'
import { createFindOperatorKey, type FindOperatorKey } from '../../core/operator/operator-keys.ts'
import { createOperatorSessions, type OperatorSessions } from '../../core/operator/signed-session-tokens.ts'
import type {
  CanarySettings,
  NetworkSettings,
  NoticesSettings,
  PayloadSettings,
  Settings,
} from '../../core/settings/settings.ts'

/**
 * The settings that can change without a restart, except log.level. A reload replaces the whole
 * object.
 */
export interface LiveSettings {
  readonly routing: Routing
  readonly sourceKeys: SourceKeys
  /** Finds the key of a request at `operator.listen`. */
  readonly findOperatorKey: FindOperatorKey
  /** The sessions of the console. */
  readonly operatorSessions: OperatorSessions
  readonly payload: PayloadSettings
  readonly network: NetworkSettings
  readonly audiences: AudienceDirectory
  /** Maximum identify events per second that syncs may write in this process. */
  readonly emitPerSecond: number
  /** `undefined` when no canary messages are sent. */
  readonly canary: CanarySettings | undefined
  /** `undefined` when no notices are sent. */
  readonly notices: NoticesSettings | undefined
}

/** Holds the live settings of a process. */
export interface CurrentSettings {
  /** Returns the current settings. Do not keep the object, because a change replaces it. */
  get(): LiveSettings
  apply(merged: Pick<Merged, 'settings' | 'changedDestinations'>): void
}

export function holdLiveSettings(settings: Settings): CurrentSettings {
  let live = liveSettingsOf(settings)
  return {
    get: () => live,
    apply({ settings: merged, changedDestinations }) {
      live = changedDestinations === undefined ? liveSettingsOf(merged) : liveAfter(live, merged, changedDestinations)
    },
  }
}

const liveSettingsOf = (settings: Settings): LiveSettings => ({
  routing: createRouting(settings),
  sourceKeys: createSourceKeys(settings.sources),
  findOperatorKey: createFindOperatorKey(settings.operator.keys),
  operatorSessions: createOperatorSessions(settings.operator.keys),
  payload: settings.payload,
  network: settings.network,
  audiences: audienceDirectory(settings),
  emitPerSecond: settings.audiences.emitPerSecond,
  canary: settings.canary,
  notices: settings.notices,
})

/**
 * Returns the live settings after a change of destinations. Each changed destination must have the
 * same `sources` as before.
 */
const liveAfter = (
  live: LiveSettings,
  settings: Settings,
  changed: NonNullable<Merged['changedDestinations']>,
): LiveSettings => ({
  ...live,
  routing: withChangedDestinations(live.routing, changed),
  audiences: audienceDirectory(settings),
})
