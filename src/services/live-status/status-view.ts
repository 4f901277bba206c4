import { LiveSums } from '../../core/live-status/live-sums.ts'
import type { Clock, Logger, TopicFollower } from '../../core/ports.ts'

/** Minimum time between two removals of records that are too old to count, in ms. */
const pruneEveryMs = 10_000
/** A view is current when it has read all records that are older than this, in ms. */
const currentWithinMs = 10_000

interface Deps {
  readonly follower: TopicFollower
  readonly topic: string
  readonly clock: Clock
  readonly logger: Logger
}

/** The status that the processes of the installation wrote to the status topic. */
export interface StatusView {
  readonly sums: Pick<LiveSums, 'processes' | 'activityOf' | 'openBreakers' | 'resultsOf'>
  /** Whether the topic is read to its end. Until then the sums are incomplete. */
  isCurrent(): boolean
  /**
   * Begins to read the topic, and returns immediately. So the operator API also works while the
   * topic cannot be read.
   */
  start(): void
  stop(): Promise<void>
}

/** Follows the status topic and keeps the sums in memory. */
export function createStatusView({ follower, topic, clock, logger }: Deps): StatusView {
  const sums = new LiveSums()
  let asOf = Number.NEGATIVE_INFINITY
  let prunedAt = Number.NEGATIVE_INFINITY

  function onCurrent(at: number): void {
    asOf = at
    if (clock.monotonic() - prunedAt < pruneEveryMs) return
    prunedAt = clock.monotonic()
    sums.prune(clock.now())
  }

  async function follow(): Promise<void> {
    await follower.start({
      onRecord: ({ key, value, timestamp }) => {
        if (key !== null) sums.apply(key.toString(), value, timestamp)
      },
      onCurrent,
    })
  }

  return {
    sums,
    isCurrent: () => clock.boottime() - asOf <= currentWithinMs,
    start() {
      follow().catch((error: unknown) => logger.error({ topic, error: (error as Error).message }, notFollowed))
    },
    stop: () => follower.stop(),
  }
}

const notFollowed =
  'this process cannot read the status topic (see error), so its operator API shows no status of processes; check that the topic exists and that hookline has the right to read it, then restart this process'
