import type { Clock } from '../../core/ports.ts'
import { codeOfThrown } from './errors.ts'
import type { ConsumerGroup } from './internals.ts'

/** As often as kafkajs would. */
const beatEveryMs = 500
/** Below the session time-out of 6 s, after which the group gives our partitions to others: with time for the call to leave this process. */
const leaseMs = 5_000

/**
 * How long ago we were a member of the group for sure, counting the time for which the machine was suspended. It counts from the moment at which a heartbeat was sent, not from its answer: that may
 * have waited in the socket while the process was frozen.
 */
export class Lease {
  readonly #clock: Clock
  readonly #onConfirmed: () => void
  #confirmedAt = Number.NEGATIVE_INFINITY
  #sentAt = Number.NEGATIVE_INFINITY
  #beat: Promise<void> | undefined

  /** @param onConfirmed called when the lease holds again. */
  constructor(clock: Clock, onConfirmed: () => void) {
    this.#clock = clock
    this.#onConfirmed = onConfirmed
  }

  get holds(): boolean {
    return this.age < leaseMs
  }

  /** Milliseconds since we were a member for sure; infinite before the first time. */
  get age(): number {
    return this.#clock.boottime() - this.#confirmedAt
  }

  /**
   * Sends a heartbeat when one is due; whoever asks meanwhile waits for the same. In place of kafkajs's own, which stops for as long as the
   * wall clock is set back.
   * @throws what the coordinator says to it: that the group rebalances, or does not know us (any more).
   */
  beat(group: ConsumerGroup): Promise<void> {
    if (this.#beat === undefined && this.#clock.boottime() < this.#sentAt + beatEveryMs) return Promise.resolve()
    this.#beat ??= this.#send(group).finally(() => {
      this.#beat = undefined
    })
    return this.#beat
  }

  /** A new membership begins: the first heartbeat is due at once. */
  renew(group: ConsumerGroup): Promise<void> {
    this.#sentAt = Number.NEGATIVE_INFINITY
    return this.beat(group)
  }

  async #send({ coordinator, groupId, memberId, generationId }: ConsumerGroup): Promise<void> {
    if (memberId === null) return
    const sentAt = this.#clock.boottime()
    this.#sentAt = sentAt
    try {
      await coordinator.heartbeat({ groupId, memberId, groupGenerationId: generationId })
      this.#confirm(sentAt)
    } catch (error) {
      // The coordinator looks first whether it knows us and our generation.
      if (codeOfThrown(error) === 'REBALANCE_IN_PROGRESS') this.#confirm(sentAt)
      else this.#sentAt = Number.NEGATIVE_INFINITY
      throw error
    }
  }

  #confirm(sentAt: number): void {
    const held = this.holds
    this.#confirmedAt = sentAt
    if (!held && this.holds) this.#onConfirmed()
  }
}
