import type { ConfigObject } from '../../api/types.ts'

/** The sources of a destination, as its document lists them. */
export function sourcesOf({ document }: Pick<ConfigObject, 'document'>): readonly string[] {
  const { sources } = document
  return Array.isArray(sources) ? sources.filter(each => typeof each === 'string') : []
}

/** The URLs of the webhooks of a destination, without the mask of their paths. */
export function urlsOf({ document }: Pick<ConfigObject, 'document'>): readonly string[] {
  const { webhooks } = document
  if (!Array.isArray(webhooks)) return []
  return webhooks
    .map((each: unknown) => (each as { url?: unknown } | null)?.url)
    .filter(url => typeof url === 'string')
    .map(url => url.replace(/\/\*\*\*$/, ''))
}

/** The page that has the filters of the address as its state. */
export interface DestinationFilters {
  readonly q: string
  readonly state: string
  readonly source: string
  /** The last id of the page before. */
  readonly after: string
}

/** Reads the filters from the query of the address. */
export function filtersOf(query: string): DestinationFilters {
  const given = new URLSearchParams(query)
  const text = (name: string): string => given.get(name) ?? ''
  return { q: text('q'), state: text('state'), source: text('source'), after: text('after') }
}
