import type { AllObjects } from '../../core/config-objects/object-references.ts'
import type { ChangePlan } from '../../core/config-objects/plan-change.ts'
import { undoOf } from '../../core/config-objects/undo-conflicting-change.ts'
import type { Clock } from '../../core/ports.ts'
import type { SettingsProblem } from '../../core/settings/settings-problem.ts'
import type { ObjectStore } from './object-store.ts'
import type { ObjectWriter, WriteResult } from './object-writer.ts'

interface Deps {
  readonly store: Pick<ObjectStore, 'known' | 'object' | 'objects'>
  readonly writer: Pick<ObjectWriter, 'write'>
  /** Returns all objects as they are now. */
  readonly all: () => AllObjects
  readonly clock: Pick<Clock, 'now' | 'id'>
}

type Result =
  | Exclude<WriteResult, { kind: 'applied' }>
  | { readonly kind: 'applied' }
  /**
   * Hookline wrote the change, and then undid it, because another process had written a conflicting
   * change with a lower offset.
   */
  | { readonly kind: 'refused'; readonly problems: readonly SettingsProblem[] }

/**
 * Writes a planned change, and undoes it if another process wrote a conflicting change before. If
 * this process ends first, other processes undo only source deletions. Never rejects.
 */
export async function writeChange(
  { store, writer, all, clock }: Deps,
  { record, problemsIn }: Extract<ChangePlan, { kind: 'write' }>,
): Promise<Result> {
  const before = { known: store.known(record), current: store.object(record) }
  const result = await writer.write(record, () => problemsIn(all()))
  if (result.kind !== 'applied' || result.problems.length === 0) return result
  const { problems } = result
  const undone = await writer.write(undoOf(record, before, { at: clock.now(), writeId: clock.id() }))
  if (undone.kind === 'applied') return { kind: 'refused', problems }
  const why = undone.kind === 'failed' ? undone.detail : 'another process changed the object again'
  return {
    kind: 'failed',
    detail: `the change is written, but an earlier change by another process makes it invalid: ${problems[0]!.message}; Hookline tried to undo the change, but the undo failed: ${why}`,
  }
}
