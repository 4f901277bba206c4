import type { ComponentChildren } from 'preact'
import type { Loaded } from '../api/use-data.ts'
import { ErrorMessage } from './error-message.tsx'
import { Loading } from './loading.tsx'

export interface LoadedDataProps<T> {
  readonly loaded: Loaded<T>
  /** The name of the data, for example `dead letters`. */
  readonly what: string
  /**
   * Whether the data is a list. A list exists even when it is empty, so a 404 means that the
   * operator service is too old to have the path.
   */
  readonly isList?: boolean
  readonly children: (data: T) => ComponentChildren
}

/**
 * Shows loaded data, a loading text or an error. After a failed reload, the earlier data stays
 * below the error.
 */
export function LoadedData<T>({ loaded, what, isList = false, children }: LoadedDataProps<T>) {
  const { data, error } = loaded
  return (
    <>
      {error !== undefined && <ErrorMessage error={error} listOf={isList ? what : undefined} />}
      {data !== undefined && children(data)}
      {data === undefined && error === undefined && <Loading what={what} />}
    </>
  )
}
