import { useSearch } from 'wouter-preact/use-browser-location'

/**
 * Returns the query of the address, still encoded. The `useSearch` of the main entry point of
 * wouter decodes the query, and `URLSearchParams` would decode it a second time.
 */
export const useQuery = (): string => useSearch()
