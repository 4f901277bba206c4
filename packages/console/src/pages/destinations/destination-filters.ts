/**
 * The search, the filters and the page of the list of destinations. The address has them in its
 * query.
 */
export interface DestinationFilters {
  readonly q: string
  readonly state: string
  readonly source: string
  /** The last id of the previous page; empty for the first page. */
  readonly after: string
}

/** Reads the filters from the query of the address. */
export function filtersOf(query: string): DestinationFilters {
  const given = new URLSearchParams(query)
  const text = (name: string): string => given.get(name) ?? ''
  return { q: text('q'), state: text('state'), source: text('source'), after: text('after') }
}
