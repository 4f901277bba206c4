import { useSearch } from 'wouter-preact/use-browser-location'

/**
 * The query of the address, still encoded. The `useSearch` of `wouter-preact` itself decodes the
 * query. `URLSearchParams` would then decode twice, and read the id `a%2Fb` as `a/b`.
 */
export const useQuery = (): string => useSearch()
