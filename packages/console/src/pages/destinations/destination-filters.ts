/** The search, filters and page of the list of destinations, as in the query of the page's URL. */
export interface DestinationFilters {
  readonly q: string
  readonly state: string
  readonly source: string
  /** The last id of the previous page; empty for the first page. */
  readonly after: string
}

export function filtersOf(query: string): DestinationFilters {
  const given = new URLSearchParams(query)
  const text = (name: string): string => given.get(name) ?? ''
  return { q: text('q'), state: text('state'), source: text('source'), after: text('after') }
}
