import type { Script, Tally } from './event-tally.ts'

/** IPC messages to the receiver's process. */
export type Order =
  /** Resets the counts and starts a script. The process replies with `begun`. */
  | { readonly kind: 'begin'; readonly script: Script }
  /** The process replies with `tally`. */
  | { readonly kind: 'tell' }

/** One complete request, whose headers and body the bench checks. */
export interface SampleRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** IPC messages from the receiver's process. */
export type Word =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'begun' }
  /**
   * The number of different delivered events has reached one of the `marks` of the script. `at` is
   * in milliseconds since 1970, with fractions.
   */
  | { readonly kind: 'mark'; readonly delivered: number; readonly at: number }
  /** Number of different delivered events. Sent every 100 ms while the number grows. */
  | { readonly kind: 'progress'; readonly delivered: number }
  | { readonly kind: 'tally'; readonly tally: Tally; readonly sample: SampleRequest | undefined }

/** Requests to this path get no response while `isDead` of the script is true. */
export const failingPath = '/mortal'
