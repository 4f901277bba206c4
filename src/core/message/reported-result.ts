/** Results of a membership update or delete message, as the dispatcher reports them. */
export const reportedResults = ['delivered', 'undelivered'] as const
export type ReportedResult = (typeof reportedResults)[number]
