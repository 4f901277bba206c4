import { shown } from './report.ts'

/**
 * Names of variants (the program and the case of a measurement), by row. Other files find results
 * by them. `program` is the name of a forwarder, for example `hookline undici`.
 */
export const variantOf = {
  delivery: (program: string, delayMs: number, more?: string) =>
    [program, `responses after ${delayMs} ms`, more].filter(Boolean).join(', '),
  live: (program: string, perSecond: number, delayMs: number) =>
    `${program}, ${shown(perSecond)} events a second, responses after ${delayMs} ms`,
  isolation: (program: string, dead: number, endpoints: number) => `${program}, ${dead} of ${endpoints} endpoints dead`,
  retries: (program: string) => `${program}, 2 of 3 events retried`,
  collector: (program: string, batchSize: number) => `${program}, messages per request: ${batchSize}`,
  audiences: (members: number) => `hookline, ${shown(members)} members`,
}
