import type { Script, Tally } from './ledger.ts'

/** To the receiver's process. */
export type Order =
  /** Forgets everything and begins anew; answered with `begun`. */
  | { readonly kind: 'begin'; readonly script: Script }
  /** Answered with `tally`. */
  | { readonly kind: 'tell' }

/** One request as it came, so that it can be looked at. */
export interface SampleRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** From the receiver's process. */
export type Word =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'begun' }
  /** So many different events have been answered with a success; `at` milliseconds since 1970, with fractions. */
  | { readonly kind: 'mark'; readonly delivered: number; readonly at: number }
  /** The same, every tenth of a second while it grows. */
  | { readonly kind: 'progress'; readonly delivered: number }
  | { readonly kind: 'tally'; readonly tally: Tally; readonly sample: SampleRequest | undefined }

/** The path that dies when the script says so. */
export const mortalPath = '/mortal'
