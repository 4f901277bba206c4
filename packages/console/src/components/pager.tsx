import { Link } from 'wouter-preact'
import { pathWith, type QueryValue } from '../api/query-parameters.ts'

export interface PagerProps {
  readonly path: string
  /**
   * The query of the page's address. Its `after` is the last entry of the previous page; absent on
   * the first page.
   */
  readonly query: Readonly<Record<string, QueryValue>>
  /** The `after` of the next page; absent on the last page. */
  readonly next: string | undefined
  readonly what: string
}

/** Links to the first and the next page of a list. */
export function Pager({ path, query, next, what }: PagerProps) {
  const isFirst = (query['after'] ?? '') === ''
  if (isFirst && next === undefined) return null
  return (
    <nav class="pager" aria-label={`Pages of ${what}`}>
      {!isFirst && (
        <Link class="button" href={pathWith(path, { ...query, after: undefined })}>
          First page
        </Link>
      )}
      {next !== undefined && (
        <Link class="button" href={pathWith(path, { ...query, after: next })}>
          Next page
        </Link>
      )}
    </nav>
  )
}
