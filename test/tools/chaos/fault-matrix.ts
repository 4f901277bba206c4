import type { Row } from './scenario-run.ts'

/** A kind of fault, the guarantee that must hold, and the scenarios that test it. */
export interface MatrixRow {
  /** A function gets the results of the scenarios that were run. */
  readonly fault: string | ((rows: readonly Row[]) => string)
  readonly holds: string
  /** Names of the scenarios. Each scenario belongs to one row. */
  readonly scenarios: readonly string[]
}

/** The rows of the summary table in docs/reliability/README.md. */
export const matrix: readonly MatrixRow[] = [
  {
    fault: 'processes killed (SIGKILL), restarted one after the other (SIGTERM), added, under load',
    holds: 'nothing lost; duplicates only of deliveries that a killed process had in progress, none after SIGTERM',
    scenarios: ['rolling-restart', 'killed', 'killed-50', 'join', 'collector-restarted', 'collector-killed'],
  },
  {
    fault: 'dispatchers, collectors and operator processes killed (SIGKILL) while replays and resends run',
    holds:
      'nothing lost; each job ends, with at most 256 copies written twice per killed process; the ledger has no difference',
    scenarios: ['jobs-killed'],
  },
  {
    fault: 'dispatchers and operator processes killed (SIGKILL) while destinations change through the operator API',
    holds:
      'every acknowledged change is in force in every process; no update lost, no destination half-applied or excluded; nothing lost',
    scenarios: ['changes-killed'],
  },
  {
    fault: 'a process frozen (SIGSTOP) for longer than its session or half of it, then continued',
    holds: 'nothing lost; no commit overwrites that of the next owner',
    scenarios: ['zombie', 'suspended'],
  },
  {
    fault: 'brokers killed: a leader, the group coordinator, all of them; disks full',
    holds: 'nothing lost; recovers by itself',
    scenarios: ['leader-killed', 'coordinator-killed', 'brokers-restarted', 'disk-full'],
  },
  {
    fault: 'brokers slow, or unreachable for up to 120 s',
    holds: 'nothing lost; recovers by itself',
    scenarios: [
      ...['link-delayed', 'link-slow', 'link-cut', 'link-reset', 'link-half-open'],
      ...['partitioned-10', 'partitioned-40', 'partitioned-120', 'broker-out-of-reach'],
    ],
  },
  {
    fault: 'responses to writes lost, late or torn; leaders moved under load',
    holds: 'every message with a 200 is delivered',
    scenarios: ['answers-lost', 'answers-late', 'answers-torn', 'leaders-moved'],
  },
  {
    fault: 'the retry or the dead-letter topic missing or not authorised',
    holds: 'nothing lost; offsets of records that need the topic are not committed; a metric reports it',
    scenarios: ['retry-topic-unwritable', 'dead-letter-unwritable'],
  },
  {
    fault: 'two concurrent faults of a process, a broker, the links or an endpoint',
    holds: 'nothing lost; recovers by itself',
    scenarios: ['mixed'],
  },
  {
    fault:
      'an endpoint fails, hangs, resets, sends a partial or slow response, or limits its rate, for up to minutes; then recovers',
    holds:
      'attempts on schedule, none early; the backlog is delivered within the limits of the destination; other destinations are not affected',
    scenarios: [
      ...['endpoint-fails', 'endpoint-hangs', 'endpoint-resets', 'endpoint-breaks-off', 'endpoint-trickles'],
      ...['endpoint-limits', 'endpoint-outage'],
    ],
  },
  {
    fault: '1, 10 and 25 of 50 destinations hang, or respond after 4.9 s',
    holds: 'nothing lost; the other destinations get their messages within the latency bound',
    scenarios: ['crowd-hangs', 'crowd-slow'],
  },
  {
    fault: 'invalid records, one user with 40 % of all events, one partition with 100 times the load',
    holds: 'no partition stalls; each invalid record is dead-lettered with its reason, each valid one delivered',
    scenarios: ['poison', 'hot-key', 'heavy-partition'],
  },
  {
    fault: 'the wall clock set an hour ahead, then an hour back; processes started with a wrong clock',
    holds: 'no retry early, lost or duplicated',
    scenarios: ['clock', 'clock-at-start'],
  },
  {
    fault: 'retention shorter than the lag',
    holds: 'each record that a destination did not get is reported',
    scenarios: ['retention'],
  },
  {
    fault: 'configuration edited and truncated, secrets rotated, under load',
    holds: 'no delivery rejected, lost or duplicated',
    scenarios: ['configuration'],
  },
  {
    fault: 'Kafka unavailable for a collector',
    holds: 'every message with a 200 is delivered; others get 503 with Retry-After',
    scenarios: ['collector-kafka-down', 'collector-link-half-open'],
  },
  {
    fault: 'an audience synced while its services are killed, or one of them loses Kafka for longer than its session',
    holds: 'each endpoint has exactly the list, with one message per change',
    scenarios: ['audience-killed', 'audience-link-cut'],
  },
  {
    fault: rows => `${durationOf(rows) ?? 'MINUTES'} of load at 70 % of the capacity, with a spike of ten times that`,
    holds: 'heap, memory, descriptors and timers stay constant; the backlog of the spike is delivered',
    scenarios: ['soak'],
  },
]

/** The duration of a soak, for example `30 minutes`. The first additional figure begins with it. */
const durationOf = ([row]: readonly Row[]): string | undefined => /^[\d.]+ minutes/.exec(row?.measured?.[0] ?? '')?.[0]
