import type { Clock, Logger } from '../../../core/ports.ts'
import { sleep } from '../../../core/sleep-and-yield.ts'
import { durationMs } from '../../../core/time.ts'
import { errorCodeOf, isBrokerUnavailable } from '../kafkajs/errors.ts'
import type { ConsumerGroup } from '../kafkajs/private-api.ts'
import { refreshMetadataAfter } from '../kafkajs/refresh-metadata-after-delay.ts'
import type { SessionLease } from './session-lease.ts'

const retryAfter = durationMs(200)
/**
 * How long the membership is kept without a confirmed heartbeat: longer than a cluster takes to
 * detect a dead broker (9 s) and to elect new leaders.
 */
const failoverLimitMs = 30_000

interface FailoverDeps {
  readonly clock: Clock
  readonly logger: Logger
  readonly lease: SessionLease
}

/**
 * Keeps the group membership during a broker failover, in which kafkajs would rejoin as a new
 * member. This is safe: the new coordinator restarts the session timeouts of the members.
 * If the group has no coordinator for 5 s, the session lease ends, and the services start no work.
 */
export class BrokerFailover {
  readonly #deps: FailoverDeps
  /** The group whose coordinator is being looked up. */
  #searching: ConsumerGroup | undefined

  constructor(deps: FailoverDeps) {
    this.#deps = deps
  }

  /**
   * Sends a heartbeat when one is due. If the coordinator is unavailable, looks up the new one.
   * @throws an error response; also the error of an unavailable coordinator, if no heartbeat was
   * confirmed for `failoverLimitMs`
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
   * Refreshes the metadata if the broker of a failed fetch is unavailable.
   * @throws `error` if it has another cause, or no heartbeat was confirmed for `failoverLimitMs`;
   * kafkajs then restarts the consumer
   */
  async afterFetch(group: ConsumerGroup, error: unknown): Promise<void> {
    if (!this.#isTransient(error)) throw error
    await refreshMetadataAfter(this.#deps.clock, group.cluster, retryAfter)
  }

  #isTransient(error: unknown): boolean {
    return isBrokerUnavailable(error) && this.#deps.lease.ageMs < failoverLimitMs
  }

  /**
   * Looks up the coordinator of the group. If the result is out of date, the next heartbeat fails
   * and starts another look-up.
   */
  async #findCoordinator(group: ConsumerGroup, reason: unknown): Promise<void> {
    if (this.#searching === group) return
    this.#searching = group
    const { clock, logger } = this.#deps
    logger.debug(
      { group: group.groupId, code: errorCodeOf(reason) },
      'a request to the group coordinator failed; hookline looks up which broker is the coordinator now',
    )
    await updateCoordinator(group).catch((error: unknown) => {
      logger.debug(
        { group: group.groupId, code: errorCodeOf(error) },
        'hookline could not find the group coordinator, and tries again',
      )
    })
    await sleep(clock, retryAfter)
    if (this.#searching === group) this.#searching = undefined
  }
}

async function updateCoordinator(group: ConsumerGroup): Promise<void> {
  const before = group.coordinator
  await group.cluster.refreshMetadata()
  const found = await group.cluster.findGroupCoordinator({ groupId: group.groupId })
  // If a join has set another coordinator during the look-up, that one is newer than `found`.
  if (group.coordinator !== before) return
  group.coordinator = found
  group.offsetManager.coordinator = found
}
