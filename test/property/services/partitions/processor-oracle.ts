import { flowLimits } from '../../../../src/core/flow/flow-control-constants.ts'
import { prefetchLimits } from '../../../../src/core/flow/prefetch-limits.ts'
import type { LogRecord } from '../../../../src/core/ports.ts'
import { parseCommit } from '../../../../src/core/progress/commit-metadata.ts'
import type { Fetch } from '../../../support/kafka/scripted-consumer.ts'

/** What happens when a record is admitted. */
export type Kind = 'waits' | 'done immediately' | 'needs a schema'

interface Given {
  readonly records: readonly LogRecord[]
  readonly end: number
  readonly kindOf: (offset: number) => Kind
  /** Number of other partitions of the process. */
  readonly others: number
  readonly maxInFlight: number
  /** Time from the append of a record until it is due, in ms. */
  readonly delayMs: number | undefined
  /** In ms since 1970. */
  readonly now: number
}

/**
 * A model of a partition that computes everything from the log, the fetched offset and the admitted
 * records.
 */
export class ProcessorOracle {
  readonly #given: Given
  #now: number
  #isAssigned = false
  #taken: number[] = []
  #done = new Set<number>()
  #doneBefore: ReadonlySet<number> = new Set()
  /**
   * The offset after the last fetched record. `#received`: the offset after the last admitted
   * record.
   */
  #fetched = 0
  #received = 0
  #isAtLimit = false
  #usesStalledLimits = false
  #needsSchema = false
  #dueAt: number | undefined
  /** When the first record of this assignment was read, in ms since 1970. */
  #knownAt: number | undefined

  constructor(given: Given) {
    this.#given = given
    this.#now = given.now
  }

  get isNotDue(): boolean {
    return this.#isAssigned && this.#dueAt !== undefined
  }

  get isFinished(): boolean {
    return this.#committable === this.#given.end
  }

  view() {
    if (!this.#isAssigned) return { taken: [], committable: undefined }
    return { taken: this.#taken, committable: this.#committable, next: this.#fetched, isPaused: this.#isPaused }
  }

  mayFetch({ late = false }: Fetch): boolean {
    return this.#isAssigned && !this.isNotDue && (late || !this.#isPaused)
  }

  fetch({ count, withGap = false }: Fetch): void {
    const ahead = this.#given.records.filter(({ offset }) => offset >= this.#fetched)
    const last = ahead[Math.min(count, ahead.length) - 1]?.offset
    if (withGap) this.#fetched = ahead[count]?.offset ?? this.#given.end
    else if (last !== undefined) this.#fetched = last + 1
    this.#proceed()
  }

  done(offset: number): void {
    this.#done.add(offset)
    if (!this.#isAtLimit || this.#reaches(0.5)) return
    this.#isAtLimit = false
    this.#proceed()
  }

  wait(now: number): void {
    while (this.#dueAt !== undefined && this.#dueAt <= now) {
      this.#now = this.#dueAt
      this.#dueAt = undefined
      this.#proceed()
    }
    this.#now = now
  }

  learn(): void {
    if (!this.#needsSchema) return
    this.#needsSchema = false
    this.#proceed()
  }

  /**
   * Applies the normal or the higher prefetch limits. A partition that is now below its limit
   * admits further records.
   */
  recheckLimits(usesStalledLimits: boolean): void {
    this.#usesStalledLimits = usesStalledLimits
    if (!this.#isAtLimit || this.#reaches(1)) return
    this.#isAtLimit = false
    this.#proceed()
  }

  revoke(): void {
    this.#isAssigned = false
  }

  assign({ offset, metadata }: { readonly offset: number; readonly metadata: string }): void {
    this.#isAssigned = true
    this.#taken = []
    this.#done = new Set()
    this.#doneBefore = parseCommit(offset, metadata).done
    this.#fetched = offset
    this.#received = offset
    this.#isAtLimit = false
    this.#needsSchema = false
    this.#dueAt = undefined
    this.#knownAt = undefined
  }

  get #isPaused(): boolean {
    return this.#isAtLimit || this.#needsSchema || this.#dueAt !== undefined
  }

  get #open(): readonly LogRecord[] {
    return this.#given.records.filter(({ offset }) => this.#taken.includes(offset) && !this.#done.has(offset))
  }

  get #limits() {
    const { normal, stalled } = prefetchLimits(this.#given.others + 1, this.#given.maxInFlight)
    return this.#usesStalledLimits ? stalled : normal
  }

  get #committable(): number {
    return this.#open[0]?.offset ?? this.#received
  }

  #proceed(): void {
    if (!this.#isAssigned || this.#dueAt !== undefined) return
    const { records, kindOf, delayMs } = this.#given
    const handedOver = records.filter(({ offset }) => offset >= this.#received && offset < this.#fetched)
    for (const [index, { offset, timestamp }] of handedOver.entries()) {
      if (this.#isPaused) return
      this.#knownAt ??= this.#now
      const dueAt = delayMs === undefined ? this.#now : Math.min(timestamp, this.#knownAt) + delayMs
      if (dueAt > this.#now) {
        this.#dueAt = dueAt
        // If the records are due soon, `dueSoonRecords` of them stay in memory. The others are
        // fetched again.
        const kept = dueAt - this.#now <= flowLimits.notDue.dueSoonMs ? this.#limits.dueSoonRecords : 0
        this.#fetched = handedOver[index + kept]?.offset ?? this.#fetched
        return
      }
      this.#received = offset + 1
      if (this.#doneBefore.has(offset)) continue
      this.#taken.push(offset)
      if (this.#reaches(1)) this.#isAtLimit = true
      if (kindOf(offset) === 'needs a schema') this.#needsSchema = true
      if (kindOf(offset) === 'done immediately') this.#endImmediately(offset)
    }
    // All fetched records are admitted. Further offsets below `#fetched` have no record.
    this.#received = this.#fetched
  }

  /** Must not call `#proceed`, because `#proceed` calls this method. */
  #endImmediately(offset: number): void {
    this.#done.add(offset)
    if (!this.#reaches(0.5)) this.#isAtLimit = false
  }

  #reaches(share: number): boolean {
    const limits = this.#limits
    const bytes = this.#open.reduce((sum, { value }) => sum + (value?.length ?? 0), 0)
    const span = this.#received - this.#committable
    return this.#open.length > limits.records * share || bytes > limits.bytes * share || span > limits.span * share
  }
}
