import { PartitionShare } from '../../../src/core/flow/limit-share-by-partitions.ts'

export type End = 'stop' | 'kill'

export interface Member {
  readonly share: PartitionShare
  readonly owned: Set<number>
  /** Partitions that the member must still revoke. */
  leaving: Set<number>
  /** False as soon as the process begins to stop. */
  isRunning: boolean
}

interface Planned {
  readonly at: number
  readonly run: () => void
}

const sessionTimeoutMs = 6_000

/**
 * A model of the events topic's consumer group with cooperative rebalances: a join revokes
 * partitions, and the next one assigns them. Times are in ms.
 */
export class ModelGroup {
  readonly members: Member[] = []
  now = 0
  readonly #count: number
  /** Time from the end of a join until the n-th member has its result. */
  readonly #delayMs: (member: number) => number
  /** Time in which a member finishes the work of partitions that it must revoke. */
  readonly #drainMs: () => number
  #planned: Planned[] = []
  #joinAt: number | undefined

  constructor(count: number, delayMs: (member: number) => number, drainMs: () => number) {
    this.#count = count
    this.#delayMs = delayMs
    this.#drainMs = drainMs
  }

  advanceTo(time: number): void {
    for (;;) {
      const [next] = this.#planned.filter(({ at }) => at <= time).sort((a, b) => a.at - b.at)
      if (next === undefined) break
      this.#planned = this.#planned.filter(each => each !== next)
      this.now = Math.max(this.now, next.at)
      next.run()
    }
    this.now = time
  }

  start(): void {
    const share = new PartitionShare(this.now)
    share.setCount(this.#count, this.now)
    this.members.push({ share, owned: new Set(), leaving: new Set(), isRunning: true })
    this.#rejoin(500)
  }

  /** Ends a running member. The group notices a kill only after the session timeout. */
  end(index: number, how: End): void {
    const member = this.members[index]
    if (member === undefined || !member.isRunning) return
    member.isRunning = false
    this.#plan(how === 'stop' ? this.#drainMs() : sessionTimeoutMs, () => {
      member.owned.clear()
      this.members.splice(this.members.indexOf(member), 1)
      this.#rejoin(500)
    })
  }

  /** Starts a join, which ends after `afterMs`. */
  #rejoin(afterMs: number): void {
    if (this.#joinAt !== undefined) return
    this.#joinAt = this.now + afterMs
    this.#plan(afterMs, () => {
      this.#joinAt = undefined
      this.#assign()
    })
  }

  #assign(): void {
    const free = new Set(Array.from({ length: this.#count }, (_, partition) => partition))
    for (const { owned } of this.members) for (const partition of owned) free.delete(partition)
    const share = Math.ceil(this.#count / Math.max(1, this.members.length))
    for (const [index, member] of this.members.entries()) {
      // A killed member keeps its partitions until its session times out.
      const room = member.isRunning ? Math.max(0, share - member.owned.size) : 0
      const gained = [...free].slice(0, room)
      for (const partition of gained) free.delete(partition)
      for (const partition of gained) member.owned.add(partition)
      const excess = member.isRunning ? [...member.owned].slice(share) : []
      this.#plan(this.#delayMs(index), () => this.#apply(member, gained, excess))
    }
  }

  #apply(member: Member, gained: readonly number[], excess: readonly number[]): void {
    if (!member.isRunning) return
    for (const partition of gained) member.share.assigned(partition, this.now)
    member.share.joined(new Set(excess), this.now)
    member.leaving = new Set(excess)
    if (excess.length === 0) return
    this.#plan(this.#drainMs(), () => {
      if (!member.isRunning || excess.some(partition => !member.leaving.has(partition))) return
      for (const partition of excess) member.share.revoked(partition, this.now)
      for (const partition of excess) member.owned.delete(partition)
      member.leaving = new Set()
      this.#rejoin(500)
    })
  }

  #plan(afterMs: number, run: () => void): void {
    this.#planned.push({ at: this.now + afterMs, run })
  }
}
