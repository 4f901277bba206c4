/**
 * The results that the dispatcher reports for a membership update or delete message. `undelivered`:
 * the message was dead-lettered or dropped.
 */
export const reportedResults = ['delivered', 'undelivered'] as const
export type ReportedResult = (typeof reportedResults)[number]
