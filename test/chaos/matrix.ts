/** A sort of fault, what has to hold whatever it does, and the scenarios that try it. */
export interface MatrixRow {
  readonly fault: string
  readonly holds: string
  /** Names; each scenario belongs to one row. */
  readonly scenarios: readonly string[]
}

/** The rows of the table in the README. */
export const matrix: readonly MatrixRow[] = [
  {
    fault: 'processes killed (SIGKILL), restarted in turn (SIGTERM), added, under load',
    holds: 'nothing lost; twice at most what a killed one had under way, nothing after SIGTERM',
    scenarios: ['rolling-restart', 'killed', 'killed-50', 'join', 'collector-restarted', 'collector-killed'],
  },
  {
    fault: 'a process frozen past its session, then thawed',
    holds: "nothing lost; no commit into its successor's progress",
    scenarios: ['zombie'],
  },
  {
    fault: 'brokers killed: one that leads, the coordinator, all of them; disks full',
    holds: 'nothing lost; goes on unaided',
    scenarios: ['leader-killed', 'coordinator-killed', 'brokers-restarted', 'disk-full'],
  },
  {
    fault: 'brokers slow, or out of reach for up to 120 s',
    holds: 'nothing lost; goes on unaided',
    scenarios: [
      ...['link-delayed', 'link-slow', 'link-cut', 'link-reset', 'link-half-open'],
      ...['partitioned-10', 'partitioned-40', 'partitioned-120', 'broker-out-of-reach'],
    ],
  },
  {
    fault: 'answers to what is written lost, late or torn; leaders moved in mid-send',
    holds: 'every record accounted for: what was answered 200 is delivered',
    scenarios: ['answers-lost', 'answers-late', 'answers-torn', 'leaders-moved'],
  },
  {
    fault: 'an endpoint fails, hangs or resets, then heals',
    holds: 'everything is delivered in the end; the other endpoint notices nothing',
    scenarios: ['endpoint-fails', 'endpoint-hangs', 'endpoint-resets'],
  },
  {
    fault: 'a collector without Kafka',
    holds: 'every 200 delivered; what cannot be stored is refused with 503 and a time',
    scenarios: ['collector-kafka-down', 'collector-link-half-open'],
  },
  {
    fault: 'an audience synced while its services are killed',
    holds: 'each endpoint has exactly the list, each told once',
    scenarios: ['audience-killed'],
  },
]
