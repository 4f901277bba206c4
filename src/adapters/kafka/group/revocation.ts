import type { Clock, LogConsumerHandlers, TopicPartition } from '../../../core/ports.ts'
import { sleep } from '../../../core/sleep-and-yield.ts'
import { type DurationMs, durationMs } from '../../../core/time.ts'
import type { ConsumerGroup } from '../kafkajs/private-api.ts'
import { groupByTopic, type OwnedPartitions, toTopicPartition } from './owned-partitions.ts'

/**
 * Time limit for draining revoked partitions: a webhook request can take 5 s, and then a retry
 * record may have to be written.
 */
const drainLimit = durationMs(8_000)
/** Time limit of one commit, after the partitions are drained. */
const commitLimit = durationMs(2_000)
const commitRetryAfter = durationMs(100)

interface Deps {
  readonly owned: OwnedPartitions
  readonly handlers: Pick<LogConsumerHandlers, 'onRevoking' | 'onRevoked'>
  readonly flush: (group: ConsumerGroup, limit: DurationMs) => Promise<boolean>
  readonly clock: Clock
}

/**
 * Revokes the excess partitions of an assignment, while all other partitions continue:
 * 1. Pause the fetches of the excess partitions.
 * 2. Drain the work in progress of these partitions, for up to 8 s.
 * 3. Commit the offsets and release the partitions.
 * 4. Request a rejoin (`needsRejoin`), in which the next owners get the partitions.
 *
 * Any join cancels an unfinished revocation.
 */
export class IncrementalRevocation {
  readonly #deps: Deps
  #run = 0
  #needsRejoin = false
  #endWait = (): void => undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Whether the member must rejoin, so that the next owners get the revoked partitions. */
  get needsRejoin(): boolean {
    return this.#needsRejoin
  }

  cancel(): void {
    this.#run++
    this.#endWait()
    this.#needsRejoin = false
  }

  /**
   * Starts to revoke the partitions `excess`. Call this method after every join, even with an empty
   * `excess`: `onRevoking` makes the service resume the partitions whose revocation was cancelled.
   */
  async start(group: ConsumerGroup, excess: readonly TopicPartition[]): Promise<void> {
    const { owned, handlers, clock } = this.#deps
    const run = ++this.#run
    const isCancelled = (): boolean => this.#run !== run
    const revoking = excess.map(each => owned.get(each)).filter(each => each !== undefined)
    for (const partition of revoking) partition.isRevoking = true
    if (revoking.length > 0) group.pause(groupByTopic(revoking, ({ partition }) => partition))
    const deadline = clock.monotonic() + drainLimit
    const idle = handlers.onRevoking(revoking.map(toTopicPartition), deadline)
    if (revoking.length === 0) return
    await this.#untilIdle(idle)
    while (!isCancelled() && !(await this.#deps.flush(group, commitLimit)) && clock.monotonic() < deadline)
      await sleep(clock, commitRetryAfter)
    if (isCancelled()) return
    for (const partition of revoking) owned.delete(partition)
    handlers.onRevoked(revoking.map(toTopicPartition))
    this.#needsRejoin = true
  }

  #untilIdle(idle: Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#deps.clock.after(drainLimit, resolve)
    this.#endWait = () => {
      cancel()
      resolve()
    }
    void idle.then(this.#endWait)
    return promise
  }
}
