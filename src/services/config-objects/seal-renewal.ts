import type { ConfigObjects } from '../../core/config-objects/config-objects.ts'
import { type ObjectName, objectKeyOf } from '../../core/config-objects/object-record.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import { problemLine, type SettingsProblem } from '../../core/settings/settings-problem.ts'
import { type DurationMs, durationMs } from '../../core/time.ts'
import { createPeriodicTask, type PeriodicTask } from '../periodic-task.ts'
import type { ObjectStore } from './object-store.ts'

/**
 * Time between two runs. Renewals are not urgent, because operators keep the old encryption key
 * until all secrets use the new one.
 */
const every = durationMs(60_000)
/** Time from the start of the process to the first run. */
const firstRunAfter = durationMs(10_000)
/**
 * Maximum number of objects that one run encrypts again, each with one write to the config topic.
 */
const maxObjects = 500
/**
 * Minimum time between two renewals of one object. Without it, two processes with different first
 * keys would renew the object endlessly.
 */
const minInterval = durationMs(3_600_000)
/** Author of the changes of this task. Names of operator keys cannot begin with `hookline.`. */
const by = 'hookline.key-rotation'

const differentOrder =
  'hookline encrypted an object (see "kind" and "id") with another key less than an hour ago, so the processes may have different first keys in operator.encryptionKeyFile; use the same order of keys in all processes with the service operator; if you changed the first key twice within the last hour, ignore this line'

const notRenewed =
  'hookline could not encrypt the secrets of a destination or source (see "kind" and "id") with the new first key of operator.encryptionKeyFile; if "problems" names a missing key, add this key to the file; otherwise, set the secrets again with the operator API'

interface Deps {
  readonly store: Pick<ObjectStore, 'objects' | 'object' | 'known'>
  readonly objects: Pick<ConfigObjects, 'change'>
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Creates the task that, after a rotation of the encryption keys, encrypts the secrets of
 * configuration objects again with the first key of `operator.encryptionKeyFile`.
 */
export function createSealRenewal({ store, objects, clock, logger }: Deps): PeriodicTask {
  let isWarned = false
  /** The objects (`objectKeyOf`) whose refused renewal was logged. */
  const refused = new Set<string>()

  /**
   * Whether the object's last change is by this task, in any process, and less than an hour old.
   */
  function isRecent(name: ObjectName): boolean {
    const known = store.known(name)
    return known?.by === by && clock.now() - known.at < minInterval
  }

  function warn(name: ObjectName): void {
    if (!isWarned) logger.warn({ ...name }, differentOrder)
    isWarned = true
  }

  function warnRefused(name: ObjectName, problems: readonly SettingsProblem[]): void {
    if (!refused.has(objectKeyOf(name))) logger.warn({ ...name, problems: problems.map(problemLine) }, notRenewed)
    refused.add(objectKeyOf(name))
  }

  async function run(): Promise<DurationMs> {
    let renewed = 0
    for (const { kind, id, hasOldSeal } of [...store.objects()]) {
      // The store is queried again, because another process may have renewed the object.
      if (!hasOldSeal || store.object({ kind, id })?.hasOldSeal !== true) continue
      if (isRecent({ kind, id })) {
        warn({ kind, id })
        continue
      }
      const outcome = await objects.change({ kind, id, by, isRenewal: true })
      if (outcome.kind === 'unavailable') break
      if (outcome.kind === 'refused') warnRefused({ kind, id }, outcome.problems)
      if (outcome.kind === 'changed') renewed++
      if (renewed === maxObjects) break
    }
    if (renewed > 0)
      logger.info(
        { count: renewed },
        'hookline re-encrypted the secrets of some destinations and sources (their number: see "count") with the first key of operator.encryptionKeyFile; keep the old key until the metric hookline_config_objects_old_key is 0 in every process',
      )
    return every
  }

  return createPeriodicTask({ clock, firstRunAfter, run })
}
