import { LiveSums } from '../../core/live-status/live-sums.ts'
import type { Clock, Logger, TopicFollower } from '../../core/ports.ts'

/**
 * Minimum time in ms between two removals of old records from the view. Old records do not count in
 * the sums, so they may be removed late.
 */
const pruneEveryMs = 10_000
/**
 * Maximum time, in ms, since the view last reached the end of the topic. After this time the view
 * is not current.
 */
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
  /**
   * Whether the view has reached the end of the topic within the last 10 s. If not, the sums may be
   * incomplete or old.
   */
  isCurrent(): boolean
  /**
   * Begins to read the topic, and returns before it is read. So the operator API also works while
   * the topic cannot be read.
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
