/** A process runs all services by default. */
export const serviceNames = ['collector', 'dispatcher', 'audiences', 'operator'] as const
export type ServiceName = (typeof serviceNames)[number]

export const everyService: ReadonlySet<ServiceName> = new Set(serviceNames)
