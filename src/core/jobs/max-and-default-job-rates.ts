/** Maximum number of records that a job writes per second. */
export const maxJobRate = 10_000
/**
 * Records per second of a resend without `rate`. A resend at this rate raises the p99 latency of
 * other deliveries by about 5 %.
 */
export const defaultResendRate = 200
