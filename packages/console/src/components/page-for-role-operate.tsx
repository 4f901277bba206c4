import type { ComponentChildren } from 'preact'
import { useCanOperate } from '../session/session-context.ts'
import { EmptyState } from './empty-state.tsx'
import { Page } from './page.tsx'

interface OperatePageProps {
  readonly title: string
  /** The task that needs the role `operate`, for example "To add a source". */
  readonly purpose: string
  readonly children: ComponentChildren
}

/** A page for the role `operate`. Other users see only that they need a key with this role. */
export function OperatePage({ title, purpose, children }: OperatePageProps) {
  return (
    <Page title={title}>
      {useCanOperate() ? (
        children
      ) : (
        <EmptyState title='Your key has the role "read", which allows no changes.'>
          {purpose}, sign in with a key that has the role "operate".
        </EmptyState>
      )}
    </Page>
  )
}
