import { pause } from '../../../core/pause.ts'
import type { Clock, Logger } from '../../../core/ports.ts'
import { type DurationMs, durationMs } from '../../../core/units.ts'
import { codeOfThrown, isOutOfReach } from '../kafkajs/errors.ts'
import type { ConsumerGroup } from '../kafkajs/private-api.ts'
import { refreshMetadataAfter } from '../log/fetch.ts'

/** The interval of kafkajs's own heartbeats. */
const heartbeatEveryMs = 500
/**
 * Below the session timeout of 6 s, after which the group reassigns our partitions. The difference
 * is the time that a request needs to leave this process.
 */
const leaseMs = 5_000

/**
 * The session lease: the group has confirmed our membership within the last 5 s, counted in boot
 * time, which includes the suspension of the machine. Work may start only while the lease is held.
 *
 * The lease counts from the sending of a heartbeat, not from its answer: the answer may have waited
 * in the socket while the process was frozen.
 */
export class SessionLease {
  readonly #clock: Clock
  readonly #onConfirmed: () => void
  #confirmedAt = Number.NEGATIVE_INFINITY
  #sentAt = Number.NEGATIVE_INFINITY
  #heartbeat: Promise<void> | undefined

  /** @param onConfirmed called when the lease is held again. */
  constructor(clock: Clock, onConfirmed: () => void) {
    this.#clock = clock
    this.#onConfirmed = onConfirmed
  }

  get isHeld(): boolean {
    return this.ageMs < leaseMs
  }

  /** Milliseconds since the last confirmed heartbeat was sent; infinite before the first one. */
  get ageMs(): number {
    return this.#clock.boottime() - this.#confirmedAt
  }

  /**
   * Sends a heartbeat when one is due; concurrent calls share it. It replaces kafkajs's heartbeat,
   * which stops for as long as the wall clock is set back.
   * @throws the coordinator's error: the group rebalances, or does not know this member.
   */
  heartbeat(group: ConsumerGroup): Promise<void> {
    if (this.#heartbeat === undefined && this.#clock.boottime() < this.#sentAt + heartbeatEveryMs)
      return Promise.resolve()
    this.#heartbeat ??= this.#send(group).finally(() => {
      this.#heartbeat = undefined
    })
    return this.#heartbeat
  }

  /** Begins a new membership: its first heartbeat is due immediately. */
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
      // The coordinator checks member id and generation before it answers with this error.
      if (codeOfThrown(error) === 'REBALANCE_IN_PROGRESS') this.#confirm(sentAt)
      else this.#sentAt = Number.NEGATIVE_INFINITY
      throw error
    }
  }

  #confirm(sentAt: number): void {
    const wasHeld = this.isHeld
    this.#confirmedAt = sentAt
    if (!wasHeld && this.isHeld) this.#onConfirmed()
  }
}

const retryAfter = durationMs(200)
/** Longer than a cluster takes to detect a dead broker (9 s) and to elect its replacement. */
const failoverLimitMs = 30_000

interface FailoverDeps {
  readonly clock: Clock
  readonly logger: Logger
  readonly lease: SessionLease
}

/**
 * Broker failover: keeps the membership while brokers are out of reach. kafkajs fails after two
 * seconds and returns as another member, which revokes everything. A new coordinator knows the
 * members from the offsets topic and starts their sessions anew; a new partition leader has the
 * same records. So all partitions and records are unchanged. The session lease stops new work until
 * a coordinator answers.
 */
export class BrokerFailover {
  readonly #deps: FailoverDeps
  /** The group whose coordinator is being looked up. */
  #searching: ConsumerGroup | undefined

  constructor(deps: FailoverDeps) {
    this.#deps = deps
  }

  /**
   * Sends a heartbeat when one is due and a coordinator is known.
   * @throws the coordinator's error, or the last connection error after 30 s without an answer.
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
   * Handles a failed fetch from one broker; fetches from the other brokers continue.
   * @throws the same error when it is no connection error, or after 30 s without any answer:
   * kafkajs then starts again at the bootstrap brokers.
   */
  async afterFetch(group: ConsumerGroup, error: unknown): Promise<void> {
    if (!this.#isTransient(error)) throw error
    await refreshMetadataAfter(this.#deps.clock, group.cluster, retryAfter)
  }

  #isTransient(error: unknown): boolean {
    return isOutOfReach(error) && this.#deps.lease.ageMs < failoverLimitMs
  }

  /** The next heartbeat tells whether the coordinator that was found is the right one. */
  async #findCoordinator(group: ConsumerGroup, reason: unknown): Promise<void> {
    if (this.#searching === group) return
    this.#searching = group
    const { clock, logger } = this.#deps
    logger.debug({ group: group.groupId, code: codeOfThrown(reason) }, 'looking for the coordinator of the group')
    await updateCoordinator(group).catch((error: unknown) => {
      logger.debug({ group: group.groupId, code: codeOfThrown(error) }, 'the group has no coordinator yet')
    })
    await pause(clock, retryAfter)
    if (this.#searching === group) this.#searching = undefined
  }
}

async function updateCoordinator(group: ConsumerGroup): Promise<void> {
  const before = group.coordinator
  await group.cluster.refreshMetadata()
  const found = await group.cluster.findGroupCoordinator({ groupId: group.groupId })
  // A join in between has already set the coordinator.
  if (group.coordinator !== before) return
  group.coordinator = found
  group.offsetManager.coordinator = found
}

/** Answers that prove that the brokers still serve this member. */
const proofsOfContact: ReadonlySet<string> = new Set(['Fetch', 'Heartbeat', 'SyncGroup'])

/** Time since the last contact with a broker, and since the last attempt to reach one. */
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

  /** Call it when a connection is opened, and when a request has ended with any result. */
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
