/** The title of an empty list. */
export function emptyTitle(isFiltered: boolean, hasMore: boolean): string {
  if (hasMore) return 'No dead letter found so far.'
  return isFiltered ? 'No dead letter matches the filters.' : 'There are no dead letters.'
}

/** The notice above a partial list. */
export const partialText = (hasMore: boolean): string =>
  hasMore
    ? 'The search ended at its limit of records or time. Choose "Next page" to search older dead letters.'
    : 'There are too many dead letters to check which of them were replayed. The list may contain replayed dead letters.'
