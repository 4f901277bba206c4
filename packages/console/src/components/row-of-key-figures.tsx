import type { ComponentChildren } from 'preact'

export interface Figure {
  readonly name: string
  /** `undefined` if the operator service does not report the number. */
  readonly value: ComponentChildren | undefined
  readonly unit?: string
  readonly tone?: 'ok' | 'bad' | undefined
}

/** The most important numbers of a page, in one row. */
export function Figures({ figures }: { readonly figures: readonly Figure[] }) {
  return (
    <dl class="figures">
      {figures.map(({ name, value, unit, tone }) => (
        <div key={name} class={tone === undefined ? 'figure' : `figure figure-${tone}`}>
          <dt>{name}</dt>
          <dd>
            {value === undefined ? <span class="muted figure-absent">not reported</span> : value}
            {value !== undefined && unit !== undefined && <span class="unit"> {unit}</span>}
          </dd>
        </div>
      ))}
    </dl>
  )
}
