/** Maximum number of records that a job writes per second. */
export const maxJobRate = 10_000
/**
 * The records per second of a resend without `rate`. With this rate, a resend raises the p99
 * latency of the other deliveries by about 5 % (row `resend` of `make bench`).
 */
export const defaultResendRate = 200
