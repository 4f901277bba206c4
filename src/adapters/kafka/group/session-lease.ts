import type { Clock } from '../../../core/ports.ts'
import { errorCodeOf } from '../kafkajs/errors.ts'
import type { ConsumerGroup } from '../kafkajs/private-api.ts'

/**
 * The interval of heartbeats, in milliseconds. It equals kafkajs's `heartbeatInterval` in
 * `consumer.ts`.
 */
const heartbeatEveryMs = 500
/**
 * The duration of the lease. After the session timeout (6 s), the coordinator reassigns the
 * partitions of a member. The lease is one second shorter, so that a webhook request that starts at
 * the end of the lease is sent before the session timeout.
 */
const leaseMs = 5_000

/**
 * The session lease. A member holds the lease for 5 s after a heartbeat that the coordinator
 * confirmed. The lease ends early when the coordinator responds that it does not know the member.
 * Without the lease, the member must not start work. This prevents duplicates: a process that was
 * frozen for longer than the session timeout must not process partitions that another member owns
 * by then.
 *
 * The lease begins when the heartbeat is sent, not when its response is read: the response may have
 * waited in the socket of a frozen process. The clock is boot time, which includes suspensions of
 * the machine.
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
   * Milliseconds since the last confirmed heartbeat was sent. `Infinity` before the first one, and
   * after the response UNKNOWN_MEMBER_ID.
   */
  get ageMs(): number {
    return this.#clock.boottime() - this.#confirmedAt
  }

  /**
   * Sends a heartbeat when one is due; concurrent calls share it. This method replaces the
   * heartbeat of kafkajs, which uses the wall clock: if that clock is set back by an hour, kafkajs
   * sends no heartbeat for an hour.
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
      // The coordinator checks the member id and the generation before it responds with
      // REBALANCE_IN_PROGRESS. So this error confirms that both are valid.
      if (code === 'REBALANCE_IN_PROGRESS') this.#confirm(sentAt)
      else this.#sentAt = Number.NEGATIVE_INFINITY
      // After UNKNOWN_MEMBER_ID, other members may own this member's partitions, so the lease ends.
      // After ILLEGAL_GENERATION, the lease continues: the coordinator checks the member id before
      // the generation, so this error shows that the coordinator still knows the member.
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
