import { withoutFailures } from '../../core/auto-disable/judge-failures.ts'
import type { ChangeOutcome, ConfigObjects } from '../../core/config-objects/config-objects.ts'
import type { Clock } from '../../core/ports.ts'
import { changeFailures } from './change-failures.ts'
import type { ObjectList } from './object-list.ts'
import type { ObjectStore } from './object-store.ts'
import type { ObjectWriter } from './object-writer.ts'

interface Deps {
  /** `undefined` without a config topic. */
  readonly topic: { readonly store: ObjectStore; readonly writer: Pick<ObjectWriter, 'write'> } | undefined
  readonly list: Pick<ObjectList, 'get'>
  readonly clock: Pick<Clock, 'now' | 'id'>
}

/** Ends the automatic disabling of a destination. */
export function createEnableAgain({ topic, list, clock }: Deps): ConfigObjects['enableAgain'] {
  return async (id, by): Promise<ChangeOutcome> => {
    const name = { kind: 'destination', id } as const
    const found = list.get(name)
    if (found === undefined) return { kind: 'not_found' }
    if (topic === undefined) return { kind: found.origin === 'file' ? 'defined_in_file' : 'disabled' }
    // Another process may have disabled it a moment ago. `change` has caught up for the other objects.
    if (found.origin === 'file' && found.disabledAutomatically === undefined && !(await topic.store.caughtUp()))
      return { kind: 'unavailable', detail: 'the config topic cannot be read' }
    const result = await changeFailures(
      { ...topic, clock },
      { id, by, next: before => (before?.disabled === undefined ? undefined : withoutFailures(before)) },
    )
    if (result.kind === 'failed') return { kind: 'unavailable', detail: result.detail }
    if (result.kind === 'ignored') return { kind: 'unavailable', detail: 'other processes wrote first' }
    const object = list.get(name)
    if (object === undefined) return { kind: 'not_found' }
    return result.kind === 'unchanged'
      ? { kind: 'unchanged', object }
      : { kind: 'changed', object, created: false, changedFields: ['enabled'] }
  }
}
