import { pause } from '../../../core/pause.ts'
import type { Clock, LogConsumerHandlers, TopicPartition } from '../../../core/ports.ts'
import { type DurationMs, durationMs } from '../../../core/units.ts'
import type { ConsumerGroup } from '../kafkajs/private-api.ts'
import { byTopic, type OwnedPartitions, partitionOf } from './owned-partitions.ts'

/**
 * Limit for draining the revoked partitions. A request ends after 5 s and then its retry record is
 * written. The next owner repeats what is not done by then.
 */
const drainLimit = durationMs(8_000)
const commitLimit = durationMs(2_000)
const commitRetryAfter = durationMs(100)

interface Deps {
  readonly owned: OwnedPartitions
  readonly handlers: Pick<LogConsumerHandlers, 'onRevoking' | 'onRevoked'>
  readonly flush: (group: ConsumerGroup, limit: DurationMs) => Promise<boolean>
  readonly clock: Clock
}

/**
 * Revokes the partitions that the assignor wants other members to have, and only those. In order:
 * pause their fetches, drain what is in progress, commit, drop them, and ask for a rejoin that
 * gives them to their next owners. The next join cancels it, whatever caused that join, because its
 * assignment names the excess partitions again.
 */
export class IncrementalRevocation {
  readonly #deps: Deps
  #run = 0
  #needsRejoin = false
  #endWait = (): void => undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Whether partitions were revoked: the group must rejoin before their next owners get them. */
  get needsRejoin(): boolean {
    return this.#needsRejoin
  }

  cancel(): void {
    this.#run++
    this.#endWait()
    this.#needsRejoin = false
  }

  /**
   * Called after every join, also without excess: then the handlers learn that partitions whose
   * revocation was cancelled stay.
   */
  async start(group: ConsumerGroup, excess: readonly TopicPartition[]): Promise<void> {
    const { owned, handlers, clock } = this.#deps
    const run = ++this.#run
    const isCancelled = (): boolean => this.#run !== run
    const revoking = excess.map(each => owned.get(each)).filter(each => each !== undefined)
    for (const partition of revoking) partition.isRevoking = true
    if (revoking.length > 0) group.pause(byTopic(revoking, ({ partition }) => partition))
    const idle = handlers.onRevoking(revoking.map(partitionOf))
    if (revoking.length === 0) return
    const deadline = clock.monotonic() + drainLimit
    await this.#untilIdle(idle)
    while (!isCancelled() && !(await this.#deps.flush(group, commitLimit)) && clock.monotonic() < deadline)
      await pause(clock, commitRetryAfter)
    if (isCancelled()) return
    for (const partition of revoking) owned.delete(partition)
    handlers.onRevoked(revoking.map(partitionOf))
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
