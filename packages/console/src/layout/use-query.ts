import { useSearch } from 'wouter-preact/use-browser-location'

/**
 * The query of the address, as the browser has it. The function `useSearch` of `wouter-preact` is
 * not used, because it decodes the query. `URLSearchParams` would then decode a value twice, and
 * read the id `a%2Fb` as `a/b`.
 */
export const useQuery = (): string => useSearch()
