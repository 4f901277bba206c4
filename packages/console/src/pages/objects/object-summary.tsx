import type { ComponentChildren } from 'preact'
import type { ConfigObject } from '../../api/response-types.ts'
import { Badge } from '../../components/badge.tsx'
import { Time } from '../../components/time.tsx'

export interface ObjectSummaryProps {
  readonly object: ConfigObject
  /** Badges after the badge with the state. */
  readonly children?: ComponentChildren
}

/** The state of a destination or a source, and who changed it last. */
export function ObjectSummary({ object, children }: ObjectSummaryProps) {
  const { state, origin, version, changedBy, changedAt } = object
  return (
    <>
      <Badge state={state} />
      {children}
      {origin === 'file' ? (
        <span>Defined in the configuration file, so you cannot change it here.</span>
      ) : (
        <span>
          Version {version}
          {changedBy !== undefined && `, changed by ${changedBy}`}
          {changedAt !== undefined && (
            <>
              {' '}
              at <Time at={changedAt} />
            </>
          )}
        </span>
      )}
    </>
  )
}
