import type { Clock, LogConsumerHandlers, Logger, TopicPartition } from '../../core/ports.ts'
import { type DurationMs, durationMs } from '../../core/units.ts'
import { type Claim, type Seat, surplusIn } from './assigner.ts'
import {
  type AssignmentChange,
  assignmentChange,
  isKept,
  type LostPosition,
  type Membership,
  membershipOf,
  nearest,
  offsetOf,
} from './assignment.ts'
import { codeOfThrown, KafkaError, rejoinNeeded } from './errors.ts'
import { lookAnew } from './fetching.ts'
import { GivingUp } from './giving-up.ts'
import type { Batch, ConsumerGroup } from './internals.ts'
import { Lease } from './lease.ts'
import { Meanwhile } from './meanwhile.ts'
import { Outlasting } from './outlasting.ts'
import { byTopic, type OwnedPartition, type Partitions, partitionOf, positionOf, showPositions } from './partitions.ts'
import { assignmentFrom, fetchUnhooked, type GroupHooks } from './patches/group-hooks.ts'

export interface MemberDeps {
  readonly owned: Partitions
  readonly handlers: LogConsumerHandlers
  /** Commits what is done; the old generation's last word before a rejoin. */
  readonly flush: (group: ConsumerGroup, limit: DurationMs) => Promise<boolean>
  /** Hands over what a fetch has brought. */
  readonly take: (batch: Batch) => Promise<void>
  readonly onJoined: () => void
  readonly maxWait: DurationMs
  readonly maxWaitWhilePaused?: DurationMs
  readonly onPositionLost: (loss: LostPosition) => void
  readonly clock: Clock
  readonly logger: Logger
}

/** Below the session time-out, of which nobody is heard of us while we wait. */
const lastCommitLimit = durationMs(2_000)
const askAttempts = 5
const askAgainAfter = durationMs(200)

/** Our place in the group: what is ours, from one join to the next. */
export class Member implements GroupHooks, Seat {
  readonly #deps: MemberDeps
  readonly #lease: Lease
  readonly #outlasting: Outlasting
  readonly #givingUp: GivingUp
  readonly #meanwhile: Meanwhile
  /** The group since our last join began. */
  #group: ConsumerGroup | undefined
  #settled: ConsumerGroup | undefined
  #joining: Promise<void> | undefined
  #joins = 0
  #last: Membership | undefined
  #isEnded = false
  #waiting: (() => void)[] = []

  constructor(deps: MemberDeps) {
    this.#deps = deps
    this.#lease = new Lease(deps.clock, () => deps.handlers.onConfirmed())
    this.#outlasting = new Outlasting({ ...deps, lease: this.#lease })
    this.#givingUp = new GivingUp(deps)
    this.#meanwhile = new Meanwhile({ ...deps, fetch: fetchUnhooked, beat: group => this.#lease.beat(group) })
  }

  /** Whether we are a member for sure, so that nobody else can have what is ours. */
  get isConfirmed(): boolean {
    return this.#lease.holds
  }

  /** The group while its last join is complete and no other has begun: only then is anything fetched or committed. */
  get settled(): ConsumerGroup | undefined {
    return this.#settled
  }

  /** The same, waited for; undefined when it takes longer than `limit`. */
  async untilSettled(limit: DurationMs): Promise<ConsumerGroup | undefined> {
    if (this.#settled === undefined) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#waiting.push(resolve)
      const cancel = this.#deps.clock.after(limit, resolve)
      await promise
      cancel()
    }
    return this.#settled
  }

  /** We are out of the group: others may have all that was ours. */
  forget(): void {
    const { owned, handlers } = this.#deps
    const lost = owned.all()
    this.#settled = undefined
    this.#last = undefined
    for (const partition of lost) owned.delete(partition)
    if (lost.length > 0) handlers.onRevoked(lost.map(partitionOf))
  }

  /** No join from now on. */
  end(): void {
    this.#isEnded = true
    this.#givingUp.callOff()
  }

  /** Fetches of several brokers may each find that a join is needed: they share one. */
  join(group: ConsumerGroup, join: () => Promise<void>): Promise<void> {
    this.#joining ??= this.#rejoin(group, join).finally(() => {
      this.#joining = undefined
    })
    return this.#joining
  }

  /**
   * What we have, for the leader to leave it with us. It goes on through a join; but when somebody else may have been given it since our last
   * one, it is dropped here, before anybody is.
   */
  claim(): Claim {
    const now = this.#group === undefined ? undefined : membershipOf(this.#group)
    if (now === undefined || !isKept(this.#last, now)) {
      this.forget()
      return { generation: -1, owned: [] }
    }
    // Joined but not synced, or not to the end: whoever led that generation knew our claim.
    this.#last = now
    return { generation: now.generation, owned: this.#deps.owned.all() }
  }

  generation(): number {
    return this.#group?.generationId ?? -1
  }

  async heartbeat(group: ConsumerGroup): Promise<void> {
    if (this.#joining !== undefined) return
    if (this.#givingUp.isRejoinDue) throw rejoinNeeded()
    await this.#outlasting.beat(group)
  }

  maxWait(): DurationMs {
    const { owned, maxWait, maxWaitWhilePaused = maxWait } = this.#deps
    return this.#settled !== undefined && owned.areAllFetched ? maxWait : maxWaitWhilePaused
  }

  async fetch(fetch: () => Promise<readonly Batch[]>): Promise<readonly Batch[]> {
    await this.#joining?.catch(() => undefined)
    const group = this.#settled
    if (group === undefined) throw rejoinNeeded()
    const joins = this.#joins
    try {
      return await fetch()
    } catch (error) {
      // Another broker's fetch has led to a rejoin meanwhile; what this one stumbled over belongs to the time before.
      if (this.#joins === joins) await this.#outlasting.afterFetch(group, error)
      return []
    }
  }

  async outOfRange(group: ConsumerGroup, { topic, partition }: TopicPartition): Promise<void> {
    const { owned, handlers, onPositionLost } = this.#deps
    const at = owned.get({ topic, partition })
    if (at === undefined) return
    const from = at.next
    const [beginning, end] = await Promise.all([offsetOf(group, at, 'beginning'), offsetOf(group, at, 'end')])
    const to = nearest(from, beginning, end)
    if (owned.get(at) !== at || at.next !== from || to === from) return
    at.next = to
    group.seek({ topic, partition, offset: String(to) })
    onPositionLost({ topic, partition, from, to })
    if (to > from) handlers.onRecords({ topic, partition, records: [], nextOffset: to, highWatermark: end })
    else this.#startAgain(group, { topic, partition, next: to, paused: false, isLeaving: false, committed: undefined })
  }

  /** The log was cut behind our position: offsets are given out anew, and what is tracked of the old ones says nothing about them. */
  #startAgain(group: ConsumerGroup, partition: OwnedPartition): void {
    const { owned, handlers } = this.#deps
    owned.add(partition)
    group.resume([{ topic: partition.topic, partitions: [partition.partition] }])
    handlers.onRevoked([partitionOf(partition)])
    handlers.onAssigned([positionOf(partition)])
  }

  async #rejoin(group: ConsumerGroup, join: () => Promise<void>): Promise<void> {
    if (this.#isEnded) throw ended(group)
    this.#group = group
    this.#givingUp.callOff()
    if (group.memberId === null) this.forget()
    // The old generation's last word.
    if (this.#settled === group) await this.#deps.flush(group, lastCommitLimit)
    this.#settled = undefined
    this.#meanwhile.begin(group)
    await joinAnew(join).finally(() => this.#meanwhile.end())
    const change = await this.#askForChange(group)
    if (this.#isEnded) {
      await group.leave()
      throw ended(group)
    }
    this.#apply(group, change)
    this.#last = membershipOf(group)
    this.#joins++
    this.#settled = group
    void this.#lease.renew(group).catch(() => undefined)
    void this.#givingUp.begin(group, surplusIn(assignmentFrom(group.coordinator)))
    this.#deps.onJoined()
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Until it is known from where to go on nothing may be fetched: when nobody says, the group is joined again. */
  async #askForChange(group: ConsumerGroup): Promise<AssignmentChange> {
    const { owned, clock, logger } = this.#deps
    for (let attempt = 1; ; attempt++) {
      try {
        return await assignmentChange(group, owned.all(), this.#last)
      } catch (error) {
        logger.debug({ group: group.groupId, code: codeOfThrown(error) }, 'committed offsets cannot be read')
        if (attempt === askAttempts || this.#isEnded) throw rejoinNeeded()
        await lookAnew(clock, group.cluster, askAgainAfter)
      }
    }
  }

  /** In one go, so that nobody sees half an assignment. */
  #apply(group: ConsumerGroup, { lost, gained }: AssignmentChange): void {
    const { owned, handlers } = this.#deps
    for (const partition of lost) owned.delete(partition)
    if (lost.length > 0) handlers.onRevoked(lost.map(partitionOf))
    for (const partition of gained) owned.add(partition)
    for (const partition of owned.all()) partition.isLeaving = false
    group.resume(byTopic(lost, ({ partition }) => partition))
    if (gained.length > 0) handlers.onAssigned(gained.map(positionOf))
    // Of all of them: kafkajs was not told of what was resumed while it joined.
    showPositions(group, owned.all())
  }
}

/** kafkajs stops trying when it cannot find the coordinator in the middle of a restart of the brokers: that is no reason to end. */
async function joinAnew(join: () => Promise<void>): Promise<void> {
  try {
    await join()
  } catch (error) {
    throw (error as Error).name === 'KafkaJSGroupCoordinatorNotFound' ? rejoinNeeded() : error
  }
}

function ended({ groupId }: ConsumerGroup): KafkaError {
  return new KafkaError(`consumer of ${groupId} is stopped`, { code: 'CLOSED', retriable: false })
}
