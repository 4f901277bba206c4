import { type FailureState, withoutFailures } from '../../core/auto-disable/judge-failures.ts'
import { byLifecycle, failureRecord } from '../../core/config-objects/destination-failure-record.ts'
import type { RecordName } from '../../core/config-objects/object-record.ts'
import type { Clock } from '../../core/ports.ts'
import type { ObjectStore } from './object-store.ts'
import type { ObjectWriter, WriteResult } from './object-writer.ts'

/**
 * Maximum number of tries of one change. A try fails when another process writes the same version
 * first.
 */
const maxTries = 20

interface Deps {
  readonly store: Pick<ObjectStore, 'failures' | 'known'>
  readonly writer: Pick<ObjectWriter, 'write'>
  readonly clock: Pick<Clock, 'now' | 'id'>
}

interface Change {
  readonly id: string
  readonly by: string
  /**
   * Returns the next state, or `undefined` when nothing changes. Called again when another process
   * has changed the state first.
   */
  readonly next: (before: FailureState | undefined) => FailureState | undefined
}

/**
 * Writes the failure state of a destination. Resolves when this process has read the record back,
 * or the write failed. Never rejects.
 */
export async function changeFailures(
  { store, writer, clock }: Deps,
  { id, by, next }: Change,
): Promise<WriteResult | { readonly kind: 'unchanged' }> {
  for (let tries = 1; ; tries++) {
    const before = store.failures.get(id)
    const state = next(before)
    if (state === undefined) return { kind: 'unchanged' }
    const known = store.known({ kind: 'failures', id })
    const record = failureRecord({ id, by, at: clock.now(), writeId: clock.id(), state, known, before })
    const result = await writer.write(record)
    if (result.kind !== 'ignored' || tries === maxTries) return result
  }
}

/**
 * Ends the failure state of a deleted destination. Otherwise, a new destination with the same id
 * and URLs would get this state. Never rejects.
 */
export async function endFailures(deps: Deps, { kind, id }: RecordName): Promise<void> {
  if (kind !== 'destination') return
  const next = (before: FailureState | undefined) =>
    before?.failingSince === undefined ? undefined : withoutFailures(before)
  await changeFailures(deps, { id, by: byLifecycle, next })
}
