import type { Clock } from '../../../core/ports.ts'
import { errorCodeOf } from '../kafkajs/errors.ts'
import type { ConsumerGroup } from '../kafkajs/private-api.ts'

/** The interval of heartbeats. It equals kafkajs's `heartbeatInterval` in `consumer.ts`. */
const heartbeatEveryMs = 500
/**
 * One second less than the session timeout, so that a request at the end of the lease is sent
 * before another member gets the partitions.
 */
const leaseMs = 5_000

/**
 * A member holds the lease for 5 s after a confirmed heartbeat. Without the lease, the member must
 * not start work, because another member may own its partitions. The 5 s begin when the heartbeat
 * is sent, because a frozen process reads the response late.
 */
export class SessionLease {
  readonly #clock: Clock
  readonly #onLeaseAcquired: () => void
  #confirmedAt = Number.NEGATIVE_INFINITY
  #sentAt = Number.NEGATIVE_INFINITY
  #heartbeat: Promise<void> | undefined

  /** @param onLeaseAcquired called when the member gets the lease, also for the first time */
  constructor(clock: Clock, onLeaseAcquired: () => void) {
    this.#clock = clock
    this.#onLeaseAcquired = onLeaseAcquired
  }

  get isHeld(): boolean {
    return this.ageMs < leaseMs
  }

  /**
   * Milliseconds since the last confirmed heartbeat was sent. `Infinity` before the first confirmed
   * heartbeat, and after UNKNOWN_MEMBER_ID.
   */
  get ageMs(): number {
    return this.#clock.boottime() - this.#confirmedAt
  }

  /**
   * Sends a heartbeat when one is due. kafkajs's own heartbeat depends on the wall clock, which may
   * be set back.
   * @throws kafkajs's errors
   */
  heartbeat(group: ConsumerGroup): Promise<void> {
    if (this.#heartbeat === undefined && this.#clock.boottime() < this.#sentAt + heartbeatEveryMs)
      return Promise.resolve()
    this.#heartbeat ??= this.#send(group).finally(() => {
      this.#heartbeat = undefined
    })
    return this.#heartbeat
  }

  /** Sends the first heartbeat of a new generation, without waiting for the interval. */
  renew(group: ConsumerGroup): Promise<void> {
    this.#sentAt = Number.NEGATIVE_INFINITY
    return this.heartbeat(group)
  }

  async #send({ coordinator, groupId, memberId, generationId }: ConsumerGroup): Promise<void> {
    if (memberId === null) return
    const sentAt = this.#clock.boottime()
    this.#sentAt = sentAt
    try {
      await coordinator.heartbeat({ groupId, memberId, groupGenerationId: generationId })
      this.#confirm(sentAt)
    } catch (error) {
      const code = errorCodeOf(error)
      // REBALANCE_IN_PROGRESS confirms that the member id and the generation are valid.
      if (code === 'REBALANCE_IN_PROGRESS') this.#confirm(sentAt)
      else this.#sentAt = Number.NEGATIVE_INFINITY
      // After UNKNOWN_MEMBER_ID, other members may own the partitions. After ILLEGAL_GENERATION,
      // the lease continues, because the coordinator still knows the member.
      if (code === 'UNKNOWN_MEMBER_ID') this.#confirmedAt = Number.NEGATIVE_INFINITY
      throw error
    }
  }

  #confirm(sentAt: number): void {
    const wasHeld = this.isHeld
    this.#confirmedAt = sentAt
    if (!wasHeld && this.isHeld) this.#onLeaseAcquired()
  }
}
