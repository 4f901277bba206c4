import type { Path } from './problem.ts'

/** What a process can run; all of it unless told otherwise. */
export const serviceNames = ['collector', 'dispatcher', 'audiences'] as const
export type ServiceName = (typeof serviceNames)[number]

/** Whose files stand below each key of the configuration. Files of every other key are those of all processes. */
const owners: Readonly<Record<string, ServiceName>> = {
  sources: 'collector',
  collector: 'collector',
  operator: 'collector',
  destinations: 'dispatcher',
  network: 'dispatcher',
}

/** For who needs every file that the configuration names. */
export const everyService: ReadonlySet<ServiceName> = new Set(serviceNames)

/** The one service that needs the file that the configuration names at a path; undefined: every process does. */
export function ownerOf([key = '']: Path): ServiceName | undefined {
  return Object.hasOwn(owners, key) ? owners[key] : undefined
}

/** Whether a process that runs these services needs the file. With none of them it needs those of every process. */
export function isNeeded(path: Path, services: ReadonlySet<ServiceName>): boolean {
  const owner = ownerOf(path)
  return owner === undefined || services.has(owner)
}
