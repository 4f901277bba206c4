/** Maximum rate of a job: the number of records that it writes per second. */
export const maxJobRate = 10_000
/**
 * The rate of a resend without `rate`: the number of records that it writes per second. With this
 * rate, a resend raises the p99 latency of the other deliveries by about 5 % (row `resend` of
 * `make bench`: a process on one core delivers 1,000 events per second beside the resend).
 */
export const defaultResendRate = 200
