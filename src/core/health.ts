/** One thing that is checked, and what was seen. */
export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}

/** `live`: a restart would help where one fails. `ready`: not to be counted on (rolled on to, scaled by) where one fails. */
export interface Health {
  readonly live: readonly Check[]
  readonly ready: readonly Check[]
}
