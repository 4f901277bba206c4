const codes: ReadonlySet<unknown> = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'])

/** Whether a record exceeds the maximum size of its topic. Every further append of it fails too. */
export const isTooLarge = (error: Error): boolean => 'code' in error && codes.has(error.code)
