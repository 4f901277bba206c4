const codes: ReadonlySet<unknown> = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'])

/** Whether an append failed because the record is too large for its topic. A retry fails too. */
export const isTooLarge = (error: Error): boolean => 'code' in error && codes.has(error.code)
