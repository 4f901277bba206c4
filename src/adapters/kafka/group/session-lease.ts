import type { Clock } from '../../../core/ports.ts'
import { errorCodeOf } from '../kafkajs/errors.ts'
import type { ConsumerGroup } from '../kafkajs/private-api.ts'

/** The interval of heartbeats. It equals kafkajs's `heartbeatInterval` in `consumer.ts`. */
const heartbeatEveryMs = 500
/**
 * The duration of the lease. It is one second shorter than the session timeout, after which another
 * member gets the partitions. So a webhook request at the end of the lease is sent in time.
 */
const leaseMs = 5_000

/**
 * The session lease. A member holds it for 5 s after a heartbeat that the coordinator confirmed,
 * unless the coordinator responds that it does not know the member. Without the lease, the member
 * must not start work: after a freeze, another member may own its partitions.
 *
 * The lease begins when the heartbeat is sent, because the response may have waited in the socket
 * of a frozen process. Boot time includes suspensions of the machine.
 */
export class SessionLease {
  readonly #clock: Clock
  readonly #onLeaseRegained: () => void
  #confirmedAt = Number.NEGATIVE_INFINITY
  #sentAt = Number.NEGATIVE_INFINITY
  #heartbeat: Promise<void> | undefined

  /** @param onLeaseRegained called when the member gets the lease, also for the first time */
  constructor(clock: Clock, onLeaseRegained: () => void) {
    this.#clock = clock
    this.#onLeaseRegained = onLeaseRegained
  }

  get isHeld(): boolean {
    return this.ageMs < leaseMs
  }

  /**
   * Milliseconds since the last confirmed heartbeat was sent. `Infinity` without one, and after
   * UNKNOWN_MEMBER_ID.
   */
  get ageMs(): number {
    return this.#clock.boottime() - this.#confirmedAt
  }

  /**
   * Sends a heartbeat when one is due; concurrent calls share it. kafkajs's own heartbeat uses the
   * wall clock: if that clock is set back by an hour, kafkajs sends no heartbeat for an hour.
   * @throws kafkajs's error, for example REBALANCE_IN_PROGRESS, UNKNOWN_MEMBER_ID or a timeout
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
    if (!wasHeld && this.isHeld) this.#onLeaseRegained()
  }
}
