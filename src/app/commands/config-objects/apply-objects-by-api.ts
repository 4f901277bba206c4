import {
  applyPlanOf,
  type ChangeStep,
  type ExistingObject,
  type Step,
  type WantedObject,
} from '../../../core/config-objects/apply-plan.ts'
import type { ObjectDocument, ObjectKind } from '../../../core/config-objects/config-objects.ts'

/** Why the operator API does not make a change. */
export interface ChangeRefusal {
  readonly kind: 'refused'
  readonly code: string
  readonly message: string
  readonly problems: readonly { readonly path: string; readonly message: string; readonly hint: string }[]
}

interface ChangeOptions {
  readonly expected: number | 'absent'
  readonly dryRun: boolean
}

type ChangeAnswer = { readonly kind: 'changed'; readonly changedFields: readonly string[] } | ChangeRefusal

/**
 * The calls of the operator API that `applyObjects` needs. Each throws when the API cannot be used.
 */
export interface ObjectClient {
  list(kind: ObjectKind): Promise<readonly ExistingObject[]>
  replace(kind: ObjectKind, id: string, document: ObjectDocument, options: ChangeOptions): Promise<ChangeAnswer>
  delete(kind: ObjectKind, id: string, options: ChangeOptions): Promise<ChangeAnswer>
}

export interface RefusedStep {
  readonly step: Step
  /** `undefined` when the API was not called, because the object is in the configuration file. */
  readonly refusal: ChangeRefusal | undefined
}

export interface FailedChange {
  readonly step: ChangeStep
  /**
   * The API's refusal or the client's error. After an error, the change may be in force
   * nevertheless.
   */
  readonly why: ChangeRefusal | { readonly kind: 'thrown'; readonly error: unknown }
}

export type ApplyOutcome =
  /**
   * `planned`: all steps are possible, but it was a dry run. `applied`: all changes are in force.
   */
  | { readonly kind: 'applied' | 'planned'; readonly steps: readonly Step[] }
  /** At least one step is not possible. Nothing was changed. */
  | { readonly kind: 'refused'; readonly refused: readonly RefusedStep[] }
  /**
   * At least one change failed after the checks. The changes in `done` are in force, those in
   * `notStarted` were not begun.
   */
  | {
      readonly kind: 'interrupted'
      readonly steps: readonly Step[]
      readonly done: readonly ChangeStep[]
      /** One or more: changes that were made concurrently can all fail. */
      readonly failed: readonly FailedChange[]
      readonly notStarted: readonly ChangeStep[]
    }

interface Given {
  readonly kind: ObjectKind
  readonly wanted: readonly WantedObject[]
  readonly prune: boolean
  readonly dryRun: boolean
}

/** Maximum number of concurrent requests of one call of `applyObjects`. */
const maxRequests = 8

/**
 * Checks all changes with dry runs at the API. If the API refuses none of them, makes the changes,
 * unless `dryRun` is set.
 * @throws the client's error, if it occurs before the first change; a later error is in the result
 */
export async function applyObjects(
  client: ObjectClient,
  { kind, wanted, prune, dryRun }: Given,
): Promise<ApplyOutcome> {
  const plan = applyPlanOf({ kind, wanted, existing: await client.list(kind), prune })
  const checked = await checkAll(client, kind, plan)
  const refused = checked.flatMap(({ step, refusal }) =>
    refusal === undefined && step.kind !== 'defined_in_file' ? [] : [{ step, refusal }],
  )
  if (refused.length > 0) return { kind: 'refused', refused }
  const steps = checked.map(({ step }) => step)
  if (dryRun) return { kind: 'planned', steps }
  const changes = steps.filter(isChange)
  const results = await carryOutAll(client, kind, changes)
  const failed = changes.flatMap((step): readonly FailedChange[] => {
    const why = results.get(step)
    return why === undefined || why === 'done' ? [] : [{ step, why }]
  })
  if (failed.length === 0) return { kind: 'applied', steps }
  return {
    ...{ kind: 'interrupted', steps, failed },
    done: changes.filter(step => results.get(step) === 'done'),
    notStarted: changes.filter(step => !results.has(step)),
  }
}

/** `done`, or why the change failed. */
type ChangeResult = 'done' | FailedChange['why']

const isChange = (step: Step): step is ChangeStep => ['create', 'replace', 'delete'].includes(step.kind)

/**
 * Checks every change with a dry run. A replacement that would change nothing becomes `unchanged`.
 */
async function checkAll(
  client: ObjectClient,
  kind: ObjectKind,
  plan: readonly Step[],
): Promise<readonly RefusedStep[]> {
  const checked: RefusedStep[] = plan.map(step => ({ step, refusal: undefined }))
  await forEach([...plan.entries()], async ([index, step]) => {
    if (!isChange(step)) return
    const answer = await send(client, kind, step, true)
    if (answer.kind === 'refused') checked[index] = { step, refusal: answer }
    else if (step.kind === 'replace' && answer.changedFields.length === 0)
      checked[index] = { step: { kind: 'unchanged', id: step.id }, refusal: undefined }
  })
  return checked
}

/** Makes all changes, or stops after a failure. Returns the result of each change that began. */
async function carryOutAll(client: ObjectClient, kind: ObjectKind, changes: readonly ChangeStep[]) {
  const results = new Map<ChangeStep, ChangeResult>()
  let hasFailed = false
  await forEach(changes, async step => {
    if (hasFailed) return
    const result = await carryOut(client, kind, step)
    results.set(step, result)
    hasFailed ||= result !== 'done'
  })
  return results
}

async function forEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values()
  const worker = async (): Promise<void> => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: maxRequests }, worker))
}

async function carryOut(client: ObjectClient, kind: ObjectKind, step: ChangeStep): Promise<ChangeResult> {
  try {
    const answer = await send(client, kind, step, false)
    return answer.kind === 'refused' ? answer : 'done'
  } catch (error) {
    return { kind: 'thrown', error }
  }
}

function send(client: ObjectClient, kind: ObjectKind, step: ChangeStep, dryRun: boolean): Promise<ChangeAnswer> {
  switch (step.kind) {
    case 'create':
      return client.replace(kind, step.id, step.document, { expected: 'absent', dryRun })
    case 'replace':
      return client.replace(kind, step.id, step.document, { expected: step.expectedVersion, dryRun })
    case 'delete':
      return client.delete(kind, step.id, { expected: step.expectedVersion, dryRun })
  }
}
