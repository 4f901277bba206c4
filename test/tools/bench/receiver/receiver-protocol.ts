import type { Script, Tally } from './event-tally.ts'

export type Order =
  /** Resets the counts and starts a script. The reply is `begun`. */
  | { readonly kind: 'begin'; readonly script: Script }
  /** The CPU time of these processes is read at each mark of the script. */
  | { readonly kind: 'watch'; readonly pids: readonly number[] }
  /** The reply is `tally`. */
  | { readonly kind: 'tell' }

export interface SampleRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** Counts since the receiver started. */
export interface Connections {
  /** Accepted connections: over HTTPS, those whose handshake succeeded. */
  readonly opened: number
  /** Connections that resumed a TLS session. The other ones needed a full handshake. */
  readonly resumed: number
}

export type Word =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'begun' }
  /**
   * The number of different delivered events has reached one of the `marks`. `at` is in ms since
   * 1970, with fractions. `cpu` has the CPU seconds of each watched process.
   */
  | {
      readonly kind: 'mark'
      readonly delivered: number
      readonly at: number
      readonly connections: Connections
      readonly cpu: readonly number[]
    }
  /** Different delivered events. Sent every 100 ms while the number grows. */
  | { readonly kind: 'progress'; readonly delivered: number }
  | { readonly kind: 'tally'; readonly tally: Tally; readonly sample: SampleRequest | undefined }

/** Gets no response while `isDead` of the script is true. */
export const failingPath = '/mortal'
