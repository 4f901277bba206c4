/** Maximum rate of a job, in records per second. */
export const maxJobRate = 10_000
/** The rate of a resend without `rate`, in records per second. */
export const defaultResendRate = 500
