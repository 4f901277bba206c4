import { pause } from '../../../core/pause.ts'
import type { Clock, Logger } from '../../../core/ports.ts'
import { type DurationMs, durationMs } from '../../../core/units.ts'
import { errorCodeOf, isBrokerUnavailable } from '../kafkajs/errors.ts'
import type { ConsumerGroup } from '../kafkajs/private-api.ts'
import { refreshMetadataAfter } from '../log/fetch.ts'

/** The same interval as kafkajs's `heartbeatInterval` in `consumer.ts`. */
const heartbeatEveryMs = 500
/**
 * One second below the session timeout (6 s), after which the coordinator reassigns the partitions
 * of a member. A webhook request that starts at the end of the lease is sent within that second.
 */
const leaseMs = 5_000

/**
 * The session lease. A member holds it for 5 s after a heartbeat that the coordinator confirmed,
 * and may start work only while it holds it. This prevents duplicates: a process that was frozen
 * for longer than the session timeout must not process partitions that another member owns by then.
 *
 * The lease counts from when the heartbeat was sent, because the response may have waited in the
 * socket of a frozen process. The clock is boot time, which includes suspensions of the machine.
 */
export class SessionLease {
  readonly #clock: Clock
  readonly #onLeaseRegained: () => void
  #confirmedAt = Number.NEGATIVE_INFINITY
  #sentAt = Number.NEGATIVE_INFINITY
  #heartbeat: Promise<void> | undefined

  /** @param onLeaseRegained called when the member gets the lease again after it had expired */
  constructor(clock: Clock, onLeaseRegained: () => void) {
    this.#clock = clock
    this.#onLeaseRegained = onLeaseRegained
  }

  get isHeld(): boolean {
    return this.ageMs < leaseMs
  }

  /** Milliseconds since the last confirmed heartbeat was sent; `Infinity` before the first one. */
  get ageMs(): number {
    return this.#clock.boottime() - this.#confirmedAt
  }

  /**
   * Sends a heartbeat when one is due; concurrent calls share it. It replaces kafkajs's heartbeat,
   * which uses the wall clock: set back by an hour, it sends none for an hour.
   * @throws the coordinator's error, such as REBALANCE_IN_PROGRESS or UNKNOWN_MEMBER_ID
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
      // The coordinator checks member id and generation first, so this error confirms both.
      if (errorCodeOf(error) === 'REBALANCE_IN_PROGRESS') this.#confirm(sentAt)
      else this.#sentAt = Number.NEGATIVE_INFINITY
      throw error
    }
  }

  #confirm(sentAt: number): void {
    const wasHeld = this.isHeld
    this.#confirmedAt = sentAt
    if (!wasHeld && this.isHeld) this.#onLeaseRegained()
  }
}

const retryAfter = durationMs(200)
/** Longer than a cluster takes to detect a dead broker (9 s) and to elect new leaders. */
const failoverLimitMs = 30_000

interface FailoverDeps {
  readonly clock: Clock
  readonly logger: Logger
  readonly lease: SessionLease
}

/**
 * Keeps the group membership during a broker failover. kafkajs alone would give up after two
 * seconds and join as a new member, which revokes all partitions.
 *
 * Keeping it is safe. The new coordinator reads the members from `__consumer_offsets` and restarts
 * their session timeouts, and a new partition leader has the same records. The session lease stops
 * new work until a coordinator responds.
 */
export class BrokerFailover {
  readonly #deps: FailoverDeps
  /** The group whose coordinator is being looked up; `undefined` when there is no look-up. */
  #searching: ConsumerGroup | undefined

  constructor(deps: FailoverDeps) {
    this.#deps = deps
  }

  /**
   * Sends a heartbeat when one is due and a coordinator is known.
   * @throws the coordinator's error, or the last connection error after 30 s without a response
   */
  async heartbeat(group: ConsumerGroup): Promise<void> {
    if (this.#searching === group && this.#deps.lease.ageMs < failoverLimitMs) return
    try {
      await this.#deps.lease.heartbeat(group)
    } catch (error) {
      if (!this.#isTransient(error)) throw error
      void this.#findCoordinator(group, error)
    }
  }

  /**
   * Handles a failed fetch from one broker: it refreshes the metadata. Fetches from other brokers
   * continue.
   * @throws `error`, when it is not a connection error, or after 30 s without a response from any
   * broker. kafkajs then restarts the consumer and connects to the bootstrap brokers.
   */
  async afterFetch(group: ConsumerGroup, error: unknown): Promise<void> {
    if (!this.#isTransient(error)) throw error
    await refreshMetadataAfter(this.#deps.clock, group.cluster, retryAfter)
  }

  #isTransient(error: unknown): boolean {
    return isBrokerUnavailable(error) && this.#deps.lease.ageMs < failoverLimitMs
  }

  /** Looks up the coordinator. The next heartbeat shows whether it is the right broker. */
  async #findCoordinator(group: ConsumerGroup, reason: unknown): Promise<void> {
    if (this.#searching === group) return
    this.#searching = group
    const { clock, logger } = this.#deps
    logger.debug({ group: group.groupId, code: errorCodeOf(reason) }, 'looking up the group coordinator')
    await updateCoordinator(group).catch((error: unknown) => {
      logger.debug({ group: group.groupId, code: errorCodeOf(error) }, 'group coordinator not found, retrying')
    })
    await pause(clock, retryAfter)
    if (this.#searching === group) this.#searching = undefined
  }
}

async function updateCoordinator(group: ConsumerGroup): Promise<void> {
  const before = group.coordinator
  await group.cluster.refreshMetadata()
  const found = await group.cluster.findGroupCoordinator({ groupId: group.groupId })
  // A join during the look-up has already set the coordinator.
  if (group.coordinator !== before) return
  group.coordinator = found
  group.offsetManager.coordinator = found
}

/** The requests whose responses prove that the brokers still serve this member. */
const proofsOfContact: ReadonlySet<string> = new Set(['Fetch', 'Heartbeat', 'SyncGroup'])

/** Measures the time since the last contact with a broker, and since the last attempt at one. */
export class BrokerContact {
  readonly #clock: Pick<Clock, 'monotonic'>
  #lastContactAt: number
  #lastAttemptAt: number

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
    this.#lastContactAt = clock.monotonic()
    this.#lastAttemptAt = this.#lastContactAt
  }

  recordAnswer(apiName: string): void {
    if (proofsOfContact.has(apiName)) this.#lastContactAt = this.#clock.monotonic()
    this.recordAttempt()
  }

  /** Call it when a connection is opened, and when a request ends, even with an error. */
  recordAttempt(): void {
    this.#lastAttemptAt = this.#clock.monotonic()
  }

  msSinceLastContact(): DurationMs {
    return durationMs(Math.floor(this.#clock.monotonic() - this.#lastContactAt))
  }

  msSinceLastAttempt(): DurationMs {
    return durationMs(Math.floor(this.#clock.monotonic() - this.#lastAttemptAt))
  }
}
