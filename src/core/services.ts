/** What a process can run; all of it unless told otherwise. */
export const serviceNames = ['collector', 'dispatcher', 'audiences'] as const
export type ServiceName = (typeof serviceNames)[number]
