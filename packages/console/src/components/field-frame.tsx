import type { ComponentChildren } from 'preact'
import type { Problem } from '../api/response-types.ts'

export interface FieldText {
  readonly label: string
  readonly hint?: string | undefined
  readonly problems?: readonly Problem[] | undefined
  readonly isRequired?: boolean | undefined
}

export interface FieldFrameProps extends FieldText {
  readonly id: string
  readonly children: ComponentChildren
}

/** The value of `aria-describedby`: the ids of the problems and the hint of a field. */
export function describedBy(id: string, { hint, problems = [] }: FieldText): string | undefined {
  const ids = [...(problems.length > 0 ? [`${id}-problem`] : []), ...(hint === undefined ? [] : [`${id}-hint`])]
  return ids.length === 0 ? undefined : ids.join(' ')
}

/** A form field with its label, problems and hint. */
export function FieldFrame({ id, label, hint, problems = [], isRequired = false, children }: FieldFrameProps) {
  return (
    <div class={problems.length > 0 ? 'field field-wrong' : 'field'}>
      <label for={id}>
        {label}
        {isRequired && <span class="required"> (required)</span>}
      </label>
      {children}
      {problems.length > 0 && (
        <div id={`${id}-problem`} class="field-problem">
          {problems.map(({ path, message, hint: help }) => (
            <p key={`${path} ${message}`}>
              <code>{path}</code> {message}
              {help !== undefined && help !== '' && ` — ${help}`}
            </p>
          ))}
        </div>
      )}
      {hint !== undefined && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
    </div>
  )
}
