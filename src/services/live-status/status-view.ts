import { LiveSums } from '../../core/live-status/status-sums-of-all-processes.ts'
import type { Clock, Logger, TopicFollower, TopicFollowerHandlers } from '../../core/ports.ts'
import { sleep } from '../../core/sleep-and-yield.ts'
import { durationMs } from '../../core/time.ts'

/** Minimum time in ms between two removals of old records from memory. */
const pruneEveryMs = 10_000
/** A view that has not reached the end of the topic for this time, in ms, is not current. */
const currentWithinMs = 10_000
const startAgainAfter = durationMs(10_000)

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
   * Whether the view recently reached the end of the topic; if not, its sums may be incomplete or
   * old.
   */
  isCurrent(): boolean
  /**
   * Begins to read the topic without waiting, because the operator API must also work without the
   * topic.
   */
  start(): void
  stop(): Promise<void>
}

/** Follows the status topic, and keeps the sums over all processes in memory. */
export function createStatusView({ follower, topic, clock, logger }: Deps): StatusView {
  const sums = new LiveSums()
  let asOf = Number.NEGATIVE_INFINITY
  let prunedAt = Number.NEGATIVE_INFINITY
  const stopped = new AbortController()

  function onCurrent(at: number): void {
    asOf = at
    if (clock.monotonic() - prunedAt < pruneEveryMs) return
    prunedAt = clock.monotonic()
    sums.prune(clock.now())
  }

  const handlers: TopicFollowerHandlers = {
    onRecord: ({ key, value, timestamp }) => {
      if (key !== null) sums.apply(key.toString(), value, timestamp)
    },
    onCurrent,
  }

  async function follow(): Promise<void> {
    for (let isLogged = false; !stopped.signal.aborted; isLogged = true) {
      try {
        return await follower.start(handlers)
      } catch (error) {
        if (stopped.signal.aborted) return
        if (!isLogged) logger.error({ topic, error: (error as Error).message }, notFollowed)
      }
      await sleep(clock, startAgainAfter, stopped.signal)
    }
  }

  return {
    sums,
    isCurrent: () => clock.boottime() - asOf <= currentWithinMs,
    start: () => void follow(),
    stop() {
      stopped.abort()
      return follower.stop()
    },
  }
}

const notFollowed =
  'this process cannot read the status topic (see "error"), so its operator API does not show the status of processes; hookline tries again every 10 s; if the status is still missing after some minutes, check that the topic exists and that hookline may read it'
