import { withoutFailures } from '../../core/auto-disable/judge-failures.ts'
import type { ChangeOutcome, ConfigObjects } from '../../core/config-objects/config-objects.ts'
import type { Clock } from '../../core/ports.ts'
import { changeFailures } from './change-failure-state.ts'
import type { ObjectList } from './file-and-topic-object-list.ts'
import type { ObjectStore } from './object-store.ts'
import type { ObjectWriter } from './object-writer.ts'

interface Deps {
  /** `undefined` when the installation has no config topic. */
  readonly topic: { readonly store: ObjectStore; readonly writer: Pick<ObjectWriter, 'write'> } | undefined
  readonly list: Pick<ObjectList, 'get'>
  readonly clock: Pick<Clock, 'now' | 'id'>
}

/** Creates the function that enables a destination after Hookline has disabled it. */
export function createEnableAgain({ topic, list, clock }: Deps): ConfigObjects['enableAgain'] {
  return async (id, by): Promise<ChangeOutcome> => {
    const name = { kind: 'destination', id } as const
    const found = list.get(name)
    if (found === undefined) return { kind: 'not_found' }
    if (topic === undefined) return { kind: found.origin === 'file' ? 'defined_in_file' : 'disabled' }
    // Another process may just have disabled the destination, so read the config topic to its end.
    // If `origin` is not `file`, the caller has already done this.
    if (found.origin === 'file' && found.disabledAutomatically === undefined && !(await topic.store.caughtUp()))
      return { kind: 'unavailable', detail: 'this process cannot read the config topic' }
    const result = await changeFailures(
      { ...topic, clock },
      { id, by, next: before => (before?.disabled === undefined ? undefined : withoutFailures(before)) },
    )
    if (result.kind === 'failed') return { kind: 'unavailable', detail: result.detail }
    if (result.kind === 'ignored')
      return { kind: 'unavailable', detail: 'another process changed the object concurrently' }
    const object = list.get(name)
    if (object === undefined) return { kind: 'not_found' }
    return result.kind === 'unchanged'
      ? { kind: 'unchanged', object }
      : { kind: 'changed', object, created: false, changedFields: ['enabled'] }
  }
}
