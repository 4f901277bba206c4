import type { AllObjects } from '../../core/config-objects/check-object-references.ts'
import type { ObjectName, ObjectRecord } from '../../core/config-objects/object-record.ts'
import type { ChangePlan } from '../../core/config-objects/plan-change.ts'
import { readObject } from '../../core/config-objects/read-object.ts'
import { type Before, problemsOfUndo, undoOf } from '../../core/config-objects/record-that-undoes-change.ts'
import type { Clock } from '../../core/ports.ts'
import type { SettingsProblem } from '../../core/settings/settings-problem.ts'
import type { ObjectStore } from './object-store.ts'
import type { ObjectWriter, WriteResult } from './object-writer.ts'

/**
 * Maximum number of records that this process writes after a change: an undo, the change again, and
 * a second undo. The last two are needed only if other processes write more conflicting changes.
 */
const maxWrites = 3

interface Deps {
  readonly store: Pick<ObjectStore, 'known' | 'object' | 'objects' | 'reading'>
  readonly writer: Pick<ObjectWriter, 'write'>
  /** Returns all objects as they are now. */
  readonly all: () => AllObjects
  readonly clock: Pick<Clock, 'now' | 'id'>
}

type PlannedWrite = Extract<ChangePlan, { kind: 'write' }>

type NotApplied = Exclude<WriteResult, { kind: 'applied' }>

type Result =
  | NotApplied
  /** The change is in force, with this record. */
  | { readonly kind: 'applied'; readonly record: ObjectRecord & ObjectName }
  /**
   * Hookline wrote the change, and then undid it, because another process had written a conflicting
   * change with a lower offset.
   */
  | { readonly kind: 'refused'; readonly problems: readonly SettingsProblem[] }

/** The object before or after the change. */
interface State extends Before {
  /**
   * Checks the references between the object in this state and the other objects as they are now.
   * Returns a problem for each invalid reference.
   */
  readonly problems: () => readonly SettingsProblem[]
}

/**
 * A written state, its record, and the problems of the state when this process read the record
 * back.
 */
interface Written {
  readonly state: State
  readonly record: ObjectRecord & ObjectName
  readonly problems: readonly SettingsProblem[]
}

/**
 * Writes a planned change, and undoes it if another process wrote a conflicting change before. If
 * this process stops before the undo, the conflict remains, except after the deletion of a source:
 * other processes undo this deletion. Never rejects.
 */
export async function writeChange(deps: Deps, plan: PlannedWrite): Promise<Result> {
  const { store, writer, all } = deps
  const { record, problemsIn } = plan
  const before = { known: store.known(record), current: store.object(record) }
  const result = await writer.write(record, () => problemsIn(all()))
  if (result.kind !== 'applied') return result
  return result.problems.length === 0
    ? { kind: 'applied', record }
    : undoUnlessKept(deps, plan, before, result.problems)
}

/**
 * Undoes a change that has `problems`. The undo is checked too, because it could break a later
 * change of another process. If the undo is invalid, but the change has become valid, the change
 * stays. If the undo was already written, the change is written again.
 */
async function undoUnlessKept(
  { store, writer, all, clock }: Deps,
  { record, problemsIn }: PlannedWrite,
  before: Before,
  problems: readonly SettingsProblem[],
): Promise<Result> {
  const current = record.value === undefined ? undefined : readObject(record, record.value, store.reading)
  const after: State = { known: record, current, problems: () => problemsIn(all()) }
  const undone: State = { ...before, problems: () => problemsOfUndo(record, before, all(), current?.document) }
  let inForce: Written = { state: after, record, problems }
  for (let writes = 0; ; writes++) {
    const states = writes < maxWrites ? [undone, after] : []
    const isValid = inForce.problems.length === 0
    const valid = isValid ? inForce.state : states.find(state => state.problems().length === 0)
    // If neither state is valid, undo only an update: its undo cannot break another object.
    const wanted = valid ?? (record.action === 'updated' ? undone : inForce.state)
    if (wanted === inForce.state) {
      if (valid === after) return { kind: 'applied', record: inForce.record }
      if (valid === undone) return { kind: 'refused', problems }
      const [why] = inForce.state === undone ? inForce.problems : undone.problems()
      return { kind: 'failed', detail: noValidState(problems[0]!, why!, inForce.state === undone) }
    }
    const changed = inForce.state.current?.document
    const next = undoOf(inForce.record, wanted, { at: clock.now(), writeId: clock.id(), changed })
    const result = await writer.write(next, wanted.problems)
    if (result.kind !== 'applied')
      return { kind: 'failed', detail: notWritten(problems[0]!, result, wanted === undone) }
    inForce = { state: wanted, record: next, problems: result.problems }
  }
}

const noValidState = ({ message }: SettingsProblem, why: SettingsProblem, isUndone: boolean): string =>
  isUndone
    ? `another process made a conflicting change: ${message}; Hookline undid the requested change, but the restored version of the object is now invalid: ${why.message}`
    : `another process made a conflicting change: ${message}; Hookline kept the requested change, because undoing it would cause another conflict: ${why.message}`

function notWritten({ message }: SettingsProblem, result: NotApplied, isUndo: boolean): string {
  const why = result.kind === 'failed' ? result.detail : 'another process changed the object concurrently'
  return isUndo
    ? `another process made a conflicting change: ${message}; Hookline could not undo the requested change: ${why}`
    : `another process made a conflicting change: ${message}; the object now has its previous version, which is invalid; Hookline could not write the requested change again: ${why}`
}
