/**
 * Labels of the figures on the page, by the names of the figures in results.json. The names must
 * stay unchanged, because they identify published figures.
 */
const labels: Readonly<Record<string, string>> = {
  'delivered twice': 'duplicated',
  'requests of no event': 'requests for unknown events',
  'runs with whole requests': 'runs with complete requests',
  'memory, last to second quarter': 'memory of the last quarter, relative to the second',
  'healthy events in time': 'other events delivered within 1 s',
  'p99 of healthy events': 'p99 of the other events',
  'p99 of live events': 'p99 of the live events',
  'p99 of that without a dead one': 'p99 relative to no dead endpoint',
  'p99 of that without a limit': 'p99 relative to no limit',
  'p99 of that without changes': 'p99 relative to no changes',
  'p99 of that without a resend': 'p99 relative to no resend',
  'ready after': 'time until both processes are ready',
  'memory of a destination': 'memory per destination',
  'memory of a member': 'memory per member',
  'members missing': 'missing members',
  restored: 'members restored',
  'first delivery after': 'time to the first delivery',
  'next delivery after': 'time to the next delivery',
  'park and release': 'CPU to schedule a retry and read it again',
  'park and release, of a bare delivery':
    'CPU to schedule a retry and read it again, relative to a delivery of the reference loop',
  'attempt records': 'CPU of two records in the attempts topic',
  'attempt records, of a bare delivery':
    'CPU of two records in the attempts topic, relative to a delivery of the reference loop',
  'parked record': 'retry record',
  attempt: 'CPU per attempt',
  'CPU a delivery': 'CPU per delivery',
  'CPU a message': 'CPU per message',
  'drained in': 'time to deliver the backlog',
  'fullest second, of what its places let through': 'busiest second, relative to what its permits allow',
  'drained at, of what its places let through': 'average rate, relative to what its permits allow',
  'p99 of the other endpoint, of that before': 'p99 of the other endpoint, relative to before the outage',
  'answered 200 and not stored': 'messages with a 200 that are not on the topic',
  'requests not answered 200': 'requests without a 200',
  'of one process, worked out for a core each': 'deliveries with a core each, relative to one process',
  'of the CPU taken by the busier one': 'share of the CPU time of the busier process',
}

/**
 * Returns the label of a figure. A name without its own label is rewritten: `of …` becomes
 * `relative to …`.
 */
export const labelOf = (what: string): string => labels[what] ?? relative(what)

const relative = (what: string): string =>
  what.replace(/^of that with /, 'relative to ').replace(/^(p99 )?of (?!the )/, '$1relative to ')

/**
 * Returns the label of a variant, which is the subject and the conditions of a measurement, such as
 * `hookline got, 20 ms`. The variant `1 of 3 parked` has a wrong name: two of three events fail
 * and are retried. In the row operator, a destination has 50,000 dead letters (a *busy* one), 100
 * or none.
 */
export const variantLabelOf = (variant: string): string =>
  variant
    .replace(/1 of 3 parked$/, '2 of 3 retried')
    .replace(/nobody listens$/, 'no collector reachable')
    .replace(/(?<=ead letters of )a busy destination/, 'a destination with 50,000')
    .replace(/(?<=ead letters of )another destination/, 'a destination with 100')
