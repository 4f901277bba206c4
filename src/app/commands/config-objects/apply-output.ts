import type { Step } from '../../../core/config-objects/apply-plan.ts'
import type { ObjectKind } from '../../../core/config-objects/config-objects.ts'
import type { FieldChange } from '../../../core/config-objects/masked-field-changes.ts'
import { formatPath } from '../../../core/settings/settings-problem.ts'
import { printable } from '../../terminal-table-and-progress-bar.ts'
import type { ApplyOutcome } from './apply-objects-by-api.ts'

type Applied = Exclude<ApplyOutcome, { readonly kind: 'refused' }>

const signs = { create: '+', replace: '~', delete: '-' } as const
const actions = ['create', 'replace', 'delete', 'unchanged'] as const
const done = { create: 'created', replace: 'changed', delete: 'deleted', unchanged: 'unchanged' } as const
const planned = { create: 'to create', replace: 'to change', delete: 'to delete', unchanged: 'unchanged' } as const

/**
 * Returns the steps to print: after an interruption, only those that were carried out and those
 * that change nothing.
 */
function shownSteps(outcome: Applied): readonly Step[] {
  if (outcome.kind !== 'interrupted') return outcome.steps
  return [...outcome.done, ...outcome.steps.filter(({ kind }) => kind === 'unchanged')]
}

/** Formats the result as text: a line for each changed field, and a last line with the counts. */
export function applyLines(kind: ObjectKind, outcome: Applied): readonly string[] {
  const steps = shownSteps(outcome)
  const isDryRun = outcome.kind === 'planned'
  const counts = actions.flatMap(action => {
    const count = steps.filter(step => step.kind === action).length
    return count === 0 ? [] : [`${count} ${(isDryRun ? planned : done)[action]}`]
  })
  const sum = counts.join(', ') || 'no changes'
  const note = isDryRun ? ' (dry run: nothing was applied)' : ''
  return [...steps.flatMap(step => linesOf(kind, step)), `${kind}s: ${sum}${note}`]
}

function linesOf(kind: ObjectKind, step: Step): readonly string[] {
  if (step.kind === 'unchanged' || step.kind === 'defined_in_file') return []
  const head = `${signs[step.kind]} ${kind} ${step.id}`
  if (step.kind === 'delete') return [head]
  return [head, ...step.changes.map(change => `    ${changeText(step.kind, change)}`)].map(printable)
}

function changeText(kind: 'create' | 'replace', { path, before, after }: FieldChange): string {
  const name = formatPath(path)
  return kind === 'create' ? `${name}: ${shown(after)}` : `${name}: ${shown(before)} → ${shown(after)}`
}

const shown = (value: unknown): string => {
  if (value === undefined) return '(not set)'
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value)
}

/** The JSON document of the result, with the changed fields of each object. */
export function applyDocument(outcome: Applied): object {
  return {
    result: outcome.kind,
    objects: shownSteps(outcome).map(step => ({
      id: step.id,
      action: step.kind,
      ...('changes' in step && {
        changes: step.changes.map(({ path, before, after }) => ({ path: formatPath(path), before, after })),
      }),
    })),
  }
}
