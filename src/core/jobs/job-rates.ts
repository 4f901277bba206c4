/** Maximum rate of a job: the number of records that it writes per second. */
export const maxJobRate = 10_000
/** The rate of a resend without `rate`: the number of records that it writes per second. */
export const defaultResendRate = 500
