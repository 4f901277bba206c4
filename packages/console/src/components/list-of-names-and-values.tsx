import type { ComponentChildren } from 'preact'
import { Absent } from './data-table.tsx'

/** A list of names with values. An `undefined` value is shown as absent. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value ?? <Absent />}</dd>
        </div>
      ))}
    </dl>
  )
}
