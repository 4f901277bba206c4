/**
 * The results of a membership update or delete message. `undelivered`: the delivery was
 * dead-lettered or dropped.
 */
export const reportedResults = ['delivered', 'undelivered'] as const
export type ReportedResult = (typeof reportedResults)[number]
