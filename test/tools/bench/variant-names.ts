import { shown } from './report.ts'

export const hostsText = (hosts: number, more = ''): string => `${shown(hosts)} host${hosts === 1 ? '' : 's'}${more}`

/**
 * For each row of the bench, a function that names a variant: a program in one case, for example
 * with slow responses. `program` is the name of a forwarder, for example `hookline undici`.
 */
export const variantOf = {
  delivery: (program: string, delayMs: number, more?: string) =>
    [program, `responses after ${delayMs} ms`, more].filter(Boolean).join(', '),
  https: (program: string, delayMs: number, hosts: number) => variantOf.delivery(program, delayMs, hostsText(hosts)),
  live: (program: string, perSecond: number, delayMs: number) =>
    `${program}, ${shown(perSecond)} events a second, responses after ${delayMs} ms`,
  isolation: (program: string, dead: number, endpoints: number) => `${program}, ${dead} of ${endpoints} endpoints dead`,
  retries: (program: string) => `${program}, 2 of 3 events retried`,
  collector: (program: string, batchSize: number) => `${program}, messages per request: ${batchSize}`,
  audiences: (members: number) => `hookline, ${shown(members)} members`,
}
