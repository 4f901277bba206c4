/**
 * Names of the figures in results.json, on pages and in the terminal. Code finds a figure by its
 * name.
 */
export type FigureName =
  | ('p50' | 'p95' | 'p99' | 'slowest' | 'lost' | 'duplicated' | 'deliveries' | 'peak memory' | 'average CPU use')
  | 'requests for unknown events'
  | 'new connections per delivery'
  | `deliveries per CPU second, relative to ${'1 host' | '1,000 hosts'}`
  | 'full TLS handshakes per delivery'
  | 'repetitions in which the verified request was complete'
  | `deliveries per CPU second, relative to ${'benthos' | 'benthos-tuned' | 'go-loop' | `the ${ReferenceLoopName}`}`
  | `p99, relative to ${'plain HTTP' | `the ${ReferenceLoopName}`}`
  | 'memory of the last quarter, relative to the second quarter'
  | 'share of the other events delivered within 1 s'
  | 'p99 of the other events'
  | `p99 of the other events, relative to ${'no dead endpoint' | 'no limit'}`
  | 'time to the first delivery'
  | 'time to the next delivery'
  | 'CPU per attempt'
  | 'CPU of a retry'
  | 'CPU of a retry, relative to a delivery of the reference loop'
  | 'CPU of two records in the attempts topic'
  | 'CPU of two records in the attempts topic, relative to a delivery of the reference loop'
  | 'size of the record in the retry topic'
  | 'time to deliver the backlog'
  | 'requests in the busiest second, relative to the 3,200 possible'
  | 'average requests per second, relative to the 3,200 possible'
  | 'p99 of the other endpoint, relative to before the outage'
  | "CPU per message of @segment/analytics-node, relative to that of Hookline's library"
  | 'CPU per message'
  | `messages per CPU second, relative to the ${'bare handler' | 'server that only parses'}`
  | 'requests without a 200'
  | 'messages that got a 200 but are not on the topic'
  | 'messages stored twice'
  | 'members restored'
  | 'memory per member'
  | 'missing members'
  | 'CPU per delivery'
  | `CPU per delivery, relative to ${'1 destination' | 'a backlog of 10,000' | '12 partitions'}`
  | 'time from process start until ready'
  | 'memory per destination'
  | `time until a change is in force, ${'p50' | 'p99'}`
  | 'p99 latency with changes'
  | 'p99 latency with changes, relative to no changes'
  | `memory ${'after the start' | 'at the end'}`
  | 'complete responses that took more than 2 s'
  | 'p95 of the time to load the slowest page'
  | 'share of partial responses (1: all)'
  | 'p95 of complete responses'
  | 'p99 of the live events'
  | 'p99 of the live events, relative to no resend'
  | 'duration of the resend'
  | `resent events ${'not delivered' | 'delivered twice'}`
  | 'deviation from the rate'
  | 'deliveries in the busiest second'
  | 'accepted requests'
  | 'deviation from the limit, as a part of the limit'
  | 'time until the raised limit is used'
  | 'open circuit breakers'
  | 'dead letters'
  | 'deliveries with a core each, relative to one process'
  | 'part of the CPU time that the busier process used'

export type ReferenceLoopName = `reference loop with ${'got' | 'undici'}`

/** A figure that compares Hookline with a program of the variable PEER. */
export type PeerFigureName = `deliveries per CPU second, relative to ${string}`
