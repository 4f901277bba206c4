import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

export interface PageProps {
  readonly title: string
  readonly children: ComponentChildren
  readonly actions?: ComponentChildren
  /** A line below the title, for example a state or a link. */
  readonly summary?: ComponentChildren
}

let hasNavigated = false

/**
 * A page with its title. After a navigation, the heading gets the focus, so that a screen reader
 * announces the page.
 */
export function Page({ title, children, actions, summary }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Hookline`
  }, [title])
  useEffect(() => {
    if (hasNavigated) heading.current?.focus()
    hasNavigated = true
  }, [])
  return (
    <>
      <header class="page-header">
        <div class="page-title">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {summary !== undefined && <div class="page-summary">{summary}</div>}
        </div>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </header>
      {children}
    </>
  )
}
