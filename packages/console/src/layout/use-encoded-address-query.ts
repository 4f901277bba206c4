import { useSearch } from 'wouter-preact/use-browser-location'

/**
 * The query of the address, still encoded. The main module of `wouter-preact` also has a function
 * `useSearch`, but that function decodes the query. `URLSearchParams` would then decode a value
 * twice, and read the id `a%2Fb` as `a/b`.
 */
export const useQuery = (): string => useSearch()
