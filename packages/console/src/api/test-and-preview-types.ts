export interface TestResponse {
  readonly webhook: string
  readonly request: { readonly url: string; readonly headers: Readonly<Record<string, string>> }
  readonly outcome: string
  readonly status?: number
  readonly failure?: { readonly phase: string; readonly code: string; readonly detail: string }
  readonly tookMs: number
  /** The first 4 KiB of the response's body. `text` is absent for a compressed body. */
  readonly responseBody?: { readonly text?: string; readonly contentEncoding?: string; readonly truncated: boolean }
}

export interface TestResult {
  readonly messageId: string
  readonly body: string
  readonly delivered: boolean
  readonly responses: readonly TestResponse[]
}

/** The requests that Hookline would send, with their secrets masked, or why it would send none. */
export type RequestPreview =
  | {
      readonly requests: readonly {
        readonly webhook: string
        readonly url: string
        readonly headers: Readonly<Record<string, string>>
      }[]
      readonly body: string
      /** Set if the destination is paused: Hookline sends the requests only after the pause. */
      readonly paused?: boolean
    }
  | { readonly reason: string; readonly message: string }
