import { pause } from '../../core/pause.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import { durationMs } from '../../core/units.ts'
import { codeOfThrown, isOutOfReach } from './errors.ts'
import { lookAnew } from './fetching.ts'
import type { ConsumerGroup } from './internals.ts'
import type { Lease } from './lease.ts'

const askAgainAfter = durationMs(200)
/** Longer than a cluster takes to notice that a broker has died (9 s) and to put another one in its place. */
const longestMs = 30_000

interface Deps {
  readonly clock: Clock
  readonly logger: Logger
  readonly lease: Lease
}

/**
 * Remains a member while brokers are out of reach, where kafkajs gives up after two seconds and comes back as another member. Who takes over
 * as coordinator has read who the members are and gives each a new session; who takes over a partition has its records: nothing of ours has
 * moved. What must not go on meanwhile, the lease says.
 */
export class Outlasting {
  readonly #deps: Deps
  /** Of which a coordinator is looked for. */
  #searching: ConsumerGroup | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * A heartbeat, when one is due and somebody is known who would answer it.
   * @throws what the coordinator says to it, or that nobody has answered for long.
   */
  async beat(group: ConsumerGroup): Promise<void> {
    if (this.#searching === group && this.#deps.lease.age < longestMs) return
    try {
      await this.#deps.lease.beat(group)
    } catch (error) {
      if (!this.#mayOutlast(error)) throw error
      void this.#search(group, error)
    }
  }

  /**
   * What follows a fetch from one broker that has failed; those from others go on.
   * @throws the same error when it is not of a broker out of reach, or of all of them for long: then we begin anew, at the bootstrap brokers.
   */
  async afterFetch(group: ConsumerGroup, error: unknown): Promise<void> {
    if (!this.#mayOutlast(error)) throw error
    await lookAnew(this.#deps.clock, group.cluster, askAgainAfter)
  }

  #mayOutlast(error: unknown): boolean {
    return isOutOfReach(error) && this.#deps.lease.age < longestMs
  }

  /** Whether it has found the coordinator, the next heartbeat tells. */
  async #search(group: ConsumerGroup, reason: unknown): Promise<void> {
    if (this.#searching === group) return
    this.#searching = group
    const { clock, logger } = this.#deps
    logger.debug({ group: group.groupId, code: codeOfThrown(reason) }, 'looking for the coordinator of the group')
    await find(group).catch((error: unknown) => {
      logger.debug({ group: group.groupId, code: codeOfThrown(error) }, 'the group has no coordinator yet')
    })
    await pause(clock, askAgainAfter)
    if (this.#searching === group) this.#searching = undefined
  }
}

async function find(group: ConsumerGroup): Promise<void> {
  const before = group.coordinator
  await group.cluster.refreshMetadata()
  const found = await group.cluster.findGroupCoordinator({ groupId: group.groupId })
  // Else a join was faster.
  if (group.coordinator !== before) return
  group.coordinator = found
  group.offsetManager.coordinator = found
}
