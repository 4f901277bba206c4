import type { ComponentChildren } from 'preact'

/** Says that a list has no entries, and what the reader can do. */
export function EmptyState({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children !== undefined && <p>{children}</p>}
    </div>
  )
}
