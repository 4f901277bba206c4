import { AudiencePartition } from '../../../src/core/audience/audience-partition.ts'
import type { AudienceDirectory } from '../../../src/core/audience/configured-audiences.ts'
import { type AudienceInput, inputUser, type LostInput } from '../../../src/core/audience/input.ts'
import {
  type MembershipRecord,
  membershipKey,
  toMembershipRecord,
  toWatermarkRecord,
  watermarkKey,
} from '../../../src/core/audience/membership-and-watermark-records.ts'
import type { SuppressionIndex } from '../../../src/core/deletion/suppressions.ts'
import type { Event } from '../../../src/core/message/event.ts'
import type { EpochMs } from '../../../src/core/time.ts'

interface Deps {
  readonly now: () => EpochMs
  readonly directory: () => AudienceDirectory
  readonly marks: SuppressionIndex
  readonly emit: (event: Event) => void
}

interface Work {
  readonly offset: number
  readonly user: string | undefined
  readonly mustRunAlone: boolean
  /** Makes one write in each call of `next`. */
  readonly writes: Iterator<void>
}

/**
 * A record of the memberships topic. A tombstone needs `position`, the offset of the input that
 * caused it.
 */
type Entry = readonly [key: string, record: string, position?: number]

/**
 * The audiences service of one partition, without Kafka. It can die between any two writes. Its
 * topics and last commit survive.
 */
export class ModelService {
  readonly input: { readonly input: AudienceInput | LostInput; readonly at: EpochMs }[] = []
  readonly #deps: Deps
  #topic: Entry[] = []
  #committed = { offset: 0, ahead: new Set<number>() }
  #partition: AudiencePartition
  #next = 0
  #underWay: Work[] = []
  readonly #done = new Set<number>()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#partition = this.#restored()
  }

  append(input: AudienceInput | LostInput): void {
    this.input.push({ input, at: this.#deps.now() })
  }

  /**
   * Starts an input, or makes one write of an input in progress. Returns false if neither is
   * possible.
   */
  advance(choice: number): boolean {
    const ready = this.#underWay.filter((work, index) => this.#mayGoOn(work, index))
    const canTakeUp = this.#next < this.input.length && this.#underWay.length < 8
    const count = ready.length + (canTakeUp ? 1 : 0)
    if (count === 0) return false
    const work = ready[choice % count]
    if (work === undefined) this.#takeUp()
    else if (work.writes.next().done) this.#finish(work)
    return true
  }

  drain(): void {
    for (const work of this.#underWay) {
      while (!work.writes.next().done);
      this.#finish(work)
    }
  }

  /** Commits the offset of the first unfinished input, and the finished inputs after it. */
  commit(): void {
    let { offset } = this.#committed
    while (this.#done.has(offset)) offset++
    this.#committed = { offset, ahead: new Set([...this.#done].filter(each => each > offset)) }
  }

  /** Replaces the process. With `isCompacted`, Kafka compacts the topic first. */
  crash({ isCompacted }: { isCompacted: boolean }): void {
    if (isCompacted) this.#topic = this.#last()
    this.#underWay = []
    this.#done.clear()
    for (const offset of this.#committed.ahead) this.#done.add(offset)
    for (let offset = 0; offset < this.#committed.offset; offset++) this.#done.add(offset)
    this.#next = this.#committed.offset
    this.#partition = this.#restored()
  }

  kept(): ReadonlyMap<string, MembershipRecord> {
    return new Map(this.#last().map(([key, record]) => [key, JSON.parse(record) as MembershipRecord]))
  }

  get members(): number {
    return this.#partition.size().members
  }

  #last(): Entry[] {
    const last = new Map(this.#topic.map(entry => [entry[0], entry]))
    return [...last.values()].filter(([, record]) => record !== 'null')
  }

  #restored(): AudiencePartition {
    const { marks, directory, now } = this.#deps
    const partition = new AudiencePartition({
      directory,
      stops: about => marks.stops(about, now()),
      inputEnd: this.input.length,
    })
    for (const [key, record, position] of this.#topic) {
      const value = (JSON.parse(record) as MembershipRecord | null) ?? undefined
      if (partition.records.restore({ key, value, position: value?.position ?? position }) === 'unreadable')
        throw new Error(`not restored: ${key} ${record}`)
    }
    return partition
  }

  #mayGoOn(work: Work, index: number): boolean {
    const before = this.#underWay.slice(0, index)
    return work.mustRunAlone
      ? before.length === 0
      : !before.some(other => other.mustRunAlone || other.user === work.user)
  }

  #takeUp(): void {
    const offset = this.#next++
    const record = this.input[offset]
    if (record === undefined || this.#done.has(offset)) return
    const { input, at } = record
    const mustRunAlone = this.#partition.mustRunAlone(input, at)
    this.#underWay.push({ offset, user: inputUser(input), mustRunAlone, writes: this.#write(input, offset, at) })
  }

  *#write(input: AudienceInput | LostInput, position: number, at: EpochMs): Generator<void> {
    const { now, emit } = this.#deps
    for (const change of this.#partition.applyInput(input, { position, at, now })) {
      if (change.kind === 'ignored' || change.kind === 'visited') continue
      yield
      if (change.kind === 'watermark') {
        this.#topic.push([watermarkKey(change.audience), JSON.stringify(toWatermarkRecord(change.watermark))])
        continue
      }
      if (change.identify !== undefined) {
        emit(change.identify)
        yield
      }
      const record = change.state === undefined ? null : toMembershipRecord(change.state)
      this.#topic.push([membershipKey(change.key), JSON.stringify(record), change.position])
    }
    yield
  }

  #finish(work: Work): void {
    this.#done.add(work.offset)
    this.#underWay = this.#underWay.filter(other => other !== work)
  }
}
