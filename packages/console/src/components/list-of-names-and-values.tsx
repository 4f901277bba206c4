import type { ComponentChildren } from 'preact'
import { Absent } from './absent-value.tsx'

/** Names with their values. */
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
