/** Why a value is rejected, and what the user should do. */
export interface Objection {
  readonly message: string
  readonly hint: string
}
