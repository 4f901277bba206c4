/** The services that a process can run. By default it runs all of them. */
export const serviceNames = ['collector', 'dispatcher', 'audiences', 'operator'] as const
export type ServiceName = (typeof serviceNames)[number]

/** All services, for a command that needs every file that the configuration names. */
export const everyService: ReadonlySet<ServiceName> = new Set(serviceNames)
