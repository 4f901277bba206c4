/** Maximum rate of a job: the number of records that it writes per second. */
export const maxJobRate = 10_000
/**
 * The rate of a resend without `rate`: the number of records that it writes per second. With this
 * rate, a resend changes the p99 latency of the other deliveries by less than 10 % (row `resend` of
 * `make bench`, with a process that delivers 1,000 events per second on one core).
 */
export const defaultResendRate = 200
