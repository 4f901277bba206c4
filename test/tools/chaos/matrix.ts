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
    fault: 'a process frozen past its session or for half of it, then thawed',
    holds: "nothing lost; no commit into its successor's progress",
    scenarios: ['zombie', 'suspended'],
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
    fault: 'the retry or the dead-letter topic missing or not authorised',
    holds: 'source offsets stay, an alarm is raised, nothing lost',
    scenarios: ['retry-topic-unwritable', 'dead-letter-unwritable'],
  },
  {
    fault: 'two at once, of a process, a broker, the links, an endpoint, as the seed says',
    holds: 'nothing lost; goes on unaided',
    scenarios: ['mixed'],
  },
  {
    fault: 'an endpoint fails, hangs, resets, breaks off, trickles or limits, then heals; for minutes',
    holds: 'attempts on schedule and none early; the backlog drains as its lane allows; the others notice nothing',
    scenarios: [
      ...['endpoint-fails', 'endpoint-hangs', 'endpoint-resets', 'endpoint-breaks-off', 'endpoint-trickles'],
      ...['endpoint-limits', 'endpoint-outage'],
    ],
  },
  {
    fault: '1, 10 and 25 of 50 destinations hang, or take 4.9 s',
    holds: 'nothing lost; what goes to the others is in time',
    scenarios: ['crowd-hangs', 'crowd-slow'],
  },
  {
    fault: 'records that are no events, one user with 40 % of all, one partition with 100 times the load',
    holds: 'partitions keep moving; each bad record is dead-lettered with its reason, each good one delivered',
    scenarios: ['poison', 'hot-key', 'heavy-partition'],
  },
  {
    fault: 'the wall clock an hour ahead, then an hour back; processes started with a wrong one',
    holds: 'no early retry, none lost, none twice',
    scenarios: ['clock', 'clock-at-start'],
  },
  {
    fault: 'retention shorter than the lag',
    holds: 'what it took is told of, to the record: sent = delivered + told of',
    scenarios: ['retention'],
  },
  {
    fault: 'configuration edited and broken, secrets rotated, under load',
    holds: 'no delivery refused, lost or made twice',
    scenarios: ['configuration'],
  },
  {
    fault: 'a collector without Kafka',
    holds: 'every 200 delivered; what cannot be stored is refused with 503 and a time',
    scenarios: ['collector-kafka-down', 'collector-link-half-open'],
  },
  {
    fault: 'an audience synced while its services are killed, or one of them loses Kafka past its session',
    holds: 'each endpoint has exactly the list, each told once',
    scenarios: ['audience-killed', 'audience-link-cut'],
  },
  {
    fault: 'hours of work at 70 % of what is possible, with a spike of ten times that',
    holds: 'heap, memory, descriptors and timers stay the same; the spike drains',
    scenarios: ['soak'],
  },
]
