import type { ComponentChildren } from 'preact'
import { useCanOperate } from '../session/session-context.ts'
import { EmptyState } from './empty-state.tsx'
import { Page } from './page.tsx'

interface OperatePageProps {
  readonly title: string
  /** What a key with the role `operate` is needed for, for example "To add a source". */
  readonly purpose: string
  readonly children: ComponentChildren
}

/**
 * A page for users with the role `operate`. Other users see that they need a key with this role.
 */
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
