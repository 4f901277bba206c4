/** Results of a membership update or delete message, as the dispatcher reports them. */
export const changeResults = ['delivered', 'undelivered'] as const
export type ChangeResult = (typeof changeResults)[number]
