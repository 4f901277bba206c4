import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

export interface PanelProps {
  readonly title: string
  readonly children: ComponentChildren
  /** Links and buttons to the right of the title. */
  readonly actions?: ComponentChildren
  readonly isWide?: boolean
}

/** A titled part of a page. */
export function Panel({ title, children, actions, isWide = false }: PanelProps) {
  const id = useId()
  return (
    <section class={isWide ? 'panel panel-wide' : 'panel'} aria-labelledby={id}>
      <header class="panel-header">
        <h2 id={id}>{title}</h2>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </header>
      {children}
    </section>
  )
}
