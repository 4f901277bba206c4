import type { Row } from './scenario-run.ts'

/** A kind of fault, the guarantee that must hold, and the scenarios that test it. */
export interface MatrixRow {
  readonly fault: string | ((rows: readonly Row[]) => string)
  readonly holds: string
  readonly scenarios: readonly string[]
}

/** The rows of the summary table in docs/reliability/README.md. */
export const matrix: readonly MatrixRow[] = [
  {
    fault: 'under load, processes are killed (SIGKILL), restarted one after the other (SIGTERM), or added',
    holds:
      'nothing lost; duplicates only of deliveries that a killed process had in progress or not yet committed; no duplicates after SIGTERM',
    scenarios: ['rolling-restart', 'killed', 'killed-50', 'join', 'collector-restarted', 'collector-killed'],
  },
  {
    fault: 'dispatchers, collectors and operator processes are killed (SIGKILL) while replays and resends run',
    holds:
      'nothing lost; each replay and resend ends; at most 256 messages replayed or resent twice per killed operator process; no delivery is missing in the ledger',
    scenarios: ['jobs-killed'],
  },
  {
    fault: 'dispatchers and operator processes are killed (SIGKILL) while destinations change through the operator API',
    holds:
      'nothing lost; every acknowledged change is stored, and all processes use the last one; no change overwrites another one; no destination becomes unusable',
    scenarios: ['changes-killed'],
  },
  {
    fault:
      'a process is frozen (SIGSTOP) for half of its Kafka session timeout, or for longer than this timeout; then it continues (SIGCONT)',
    holds:
      'nothing lost; the frozen process does not overwrite the committed offsets of the processes that got its partitions',
    scenarios: ['zombie', 'suspended'],
  },
  {
    fault: 'a partition leader, the group coordinator or all brokers are killed; disks of brokers are full',
    holds: 'nothing lost; recovers by itself',
    scenarios: ['leader-killed', 'coordinator-killed', 'brokers-restarted', 'disk-full'],
  },
  {
    fault: 'brokers are slow, or unreachable for up to 120 s',
    holds: 'nothing lost; recovers by itself',
    scenarios: [
      ...['link-delayed', 'link-slow', 'link-cut', 'link-reset', 'link-half-open'],
      ...['partitioned-10', 'partitioned-40', 'partitioned-120', 'broker-out-of-reach'],
    ],
  },
  {
    fault: 'responses of brokers are lost, late or cut off; partitions get other leaders under load',
    holds: 'every message that a collector answered with 200 is delivered',
    scenarios: ['answers-lost', 'answers-late', 'answers-torn', 'leaders-moved'],
  },
  {
    fault: 'a retry topic or the dead-letter topic does not exist, or an ACL forbids writes to it',
    holds: 'nothing lost; the offsets of records that need the topic are not committed; a metric reports the topic',
    scenarios: ['retry-topic-unwritable', 'dead-letter-unwritable'],
  },
  {
    fault: 'two of these fail at the same time: a process, a broker, the links to the brokers, an endpoint',
    holds: 'nothing lost; recovers by itself',
    scenarios: ['mixed'],
  },
  {
    fault:
      'an endpoint fails, hangs, resets connections, sends a partial or slow response, or limits its rate; then it recovers',
    holds:
      'no retry begins early, or later than its limit; the backlog is delivered within the concurrency limit of the destination; other destinations are not affected',
    scenarios: [
      ...['endpoint-fails', 'endpoint-hangs', 'endpoint-resets', 'endpoint-breaks-off', 'endpoint-trickles'],
      ...['endpoint-limits', 'endpoint-pauses', 'endpoint-outage'],
    ],
  },
  {
    fault: '1, then 10, then 25 of 50 endpoints never respond, or respond after 4.9 s',
    holds: 'nothing lost; each other endpoint gets 99.9 % of its messages within a second',
    scenarios: ['crowd-hangs', 'crowd-slow'],
  },
  {
    fault:
      'three destinations are at one host, with the default limits; two of them have five webhooks each, and these respond after 4.8 s',
    holds: 'nothing lost; the third destination gets 99.9 % of its messages within a second',
    scenarios: ['shared-host-slow'],
  },
  {
    fault:
      'some records are invalid; one user has 40 % of all events; one partition has 100 times the load of each other partition',
    holds:
      'no partition stops delivering; each invalid record is dead-lettered with its reason, and each valid one is delivered',
    scenarios: ['poison', 'hot-key', 'heavy-partition'],
  },
  {
    fault: 'the wall clock is set an hour ahead, then an hour back; processes start with a wrong clock',
    holds: 'no retry is early, lost or duplicated',
    scenarios: ['clock', 'clock-at-start'],
  },
  {
    fault: 'Kafka deletes unread records, because the retention is shorter than the lag',
    holds: 'each deleted record that a destination did not get is reported',
    scenarios: ['retention'],
  },
  {
    fault: 'under load, the configuration is edited and truncated, and secrets are rotated',
    holds: 'no delivery is rejected, lost or duplicated',
    scenarios: ['configuration'],
  },
  {
    fault: 'Kafka is unavailable for a collector',
    holds: 'every message that the collector answered with 200 is delivered; other messages get 503 with Retry-After',
    scenarios: ['collector-kafka-down', 'collector-link-half-open'],
  },
  {
    fault:
      'a list of users (audience) is synced while processes are killed, or while one of them loses Kafka for longer than its session timeout',
    holds: 'each endpoint has exactly the list; one message per change, which may arrive more than once',
    scenarios: ['audience-killed', 'audience-link-cut'],
  },
  {
    fault: rows =>
      `${durationOf(rows) ?? 'MINUTES'} of 70 % of the measured capacity, and at first ten times as much for 5 s`,
    holds:
      'memory, heap, file descriptors and timers grow less than their limits; the backlog of the first 5 s is delivered',
    scenarios: ['soak'],
  },
]

/** Returns the duration of a soak, for example `30 minutes`, or undefined without a soak. */
const durationOf = ([row]: readonly Row[]): string | undefined => /^[\d.]+ minutes/.exec(row?.measured?.[0] ?? '')?.[0]
