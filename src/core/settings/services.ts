import type { Path } from './problem.ts'

/** The services that a process can run. By default it runs all of them. */
export const serviceNames = ['collector', 'dispatcher', 'audiences'] as const
export type ServiceName = (typeof serviceNames)[number]

/**
 * The service that needs the files below each key of the configuration. All processes need the
 * files below other keys.
 */
const owners: Readonly<Record<string, ServiceName>> = {
  sources: 'collector',
  collector: 'collector',
  operator: 'collector',
  destinations: 'dispatcher',
  network: 'dispatcher',
}

/** The services of a command that needs every file that the configuration names. */
export const everyService: ReadonlySet<ServiceName> = new Set(serviceNames)

/** The service that needs the file at a path; `undefined` when every process needs it. */
export function ownerOf([key = '']: Path): ServiceName | undefined {
  return Object.hasOwn(owners, key) ? owners[key] : undefined
}

/**
 * Whether a process that runs these services needs the file. Without services, it needs only the
 * files that every process needs.
 */
export function isNeeded(path: Path, services: ReadonlySet<ServiceName>): boolean {
  const owner = ownerOf(path)
  return owner === undefined || services.has(owner)
}
