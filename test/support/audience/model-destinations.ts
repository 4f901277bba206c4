import type { OutcomeInput } from '../../../src/core/audience/input.ts'
import type { SuppressionIndex } from '../../../src/core/deletion/suppressions.ts'
import type { Event } from '../../../src/core/message/event.ts'
import type { EpochMs } from '../../../src/core/time.ts'
import { type DeliveryResult, reportOf } from '../../../src/services/dispatcher/report-for-audience-or-deletion.ts'

/** What can happen to a copy of an event between the events topic and its destination. */
export const fates = [
  ...['arrives', 'arrives_twice_reported', 'arrives_uncommitted', 'times_out', 'given_up', 'doubles', 'vanishes'],
] as const
export type Fate = (typeof fates)[number]

/**
 * Maximum age of a copy, in ms. A younger copy may still get its first attempt, so its change must
 * not be sent again.
 */
const maxCopyAge = 7 * 24 * 3_600_000

interface Sent {
  readonly version: number
  readonly value: string
  readonly at: EpochMs
  isDelivered: boolean
  isFailed: boolean
}

interface Sendings {
  readonly sent: Sent[]
  /** How often the service may send an unchanged value again. */
  causes: number
  repetitions: number
}

/**
 * A worst-case model of the destinations: copies of a message arrive in any order and more than
 * once. But the result of each attempt is reported, and destinations ignore known message ids.
 */
export class ModelDestinations {
  readonly #now: () => EpochMs
  readonly #marks: SuppressionIndex
  readonly #report: (input: OutcomeInput) => void
  #copies: Event[] = []
  readonly #known = new Map<string, string>()
  readonly #seen = new Set<string>()
  readonly #values = new Map<string, string>()
  readonly #sendings = new Map<string, Sendings>()

  constructor(deps: { now: () => EpochMs; marks: SuppressionIndex; report: (input: OutcomeInput) => void }) {
    this.#now = deps.now
    this.#marks = deps.marks
    this.#report = deps.report
  }

  get changes(): number {
    return this.#known.size
  }

  valueOf(key: string): string | undefined {
    return this.#values.get(key)
  }

  /**
   * Whether the last change of this membership was reported as delivered, and never as
   * dead-lettered. True if none was sent.
   */
  hasLast(key: string): boolean {
    const last = this.#sendingsOf(key).sent.at(-1)
    return last === undefined || (last.isDelivered && !last.isFailed)
  }

  /** Permits the service to send the last value of each of these memberships once more. */
  trouble(keys: readonly string[]): void {
    for (const key of keys) this.#sendingsOf(key).causes++
  }

  /** Checks and adds an identify message of the audiences service. */
  take(event: Event): void {
    const { messageId, traits = '' } = event.message
    const key = keyOf(event)
    const change = `${key} ${traits}`
    const before = this.#known.get(messageId)
    if (before !== undefined && before !== change) throw new Error(`one id for two changes: ${before} and ${change}`)
    this.#known.set(messageId, change)
    this.#copies.push(event)
    // Messages for a deleted user are never delivered, so the service may send them without a
    // cause.
    const isStopped = this.#marks.stops({ ...event, ...event.message }, this.#now()) !== undefined
    if (before === undefined && !isStopped) this.#checkCause(event, key)
  }

  /** Applies a fate to one of the copies. A copy for a deleted user is always dropped. */
  happen(fate: Fate, choice: number): void {
    const copy = this.#copies[choice % this.#copies.length]
    if (copy === undefined) return
    if (this.#marks.stops({ ...copy, ...copy.message }, this.#now()) !== undefined)
      return this.#end(copy, 'user_deleted')
    switch (fate) {
      case 'arrives':
        this.#arrive(copy)
        return this.#end(copy, 'delivered')
      case 'arrives_twice_reported':
        this.#arrive(copy)
        this.#tell(copy, 'delivered')
        return this.#end(copy, 'delivered')
      case 'arrives_uncommitted':
        // The process dies before it commits, so the next process reads the copy again.
        this.#arrive(copy)
        return this.#tell(copy, 'delivered')
      case 'times_out':
        // The destination has the copy, but the dispatcher got no response.
        return this.#arrive(copy)
      case 'given_up':
        return this.#end(copy, 'retries_exhausted')
      case 'doubles':
        if (this.#copies.length < 30) this.#copies.push({ ...copy })
        return
      case 'vanishes':
        return this.#vanish(copy)
    }
  }

  deliverAll(): boolean {
    const count = this.#copies.length
    for (let left = count; left > 0; left--) this.happen('arrives', 0)
    return count > 0
  }

  giveUpAttempted(): void {
    for (const copy of this.#copies) if (this.#seen.has(copy.message.messageId)) this.#end(copy, 'retry_window_over')
  }

  /** Drops all copies that were never attempted, as the retention of the topic does. */
  vanishAll(): void {
    for (const copy of this.#copies) this.#vanish(copy)
  }

  /** Delivers a delete message of a user to all destinations. */
  forget(userId: string): void {
    for (const key of this.#values.keys()) if (userOf(key) === userId) this.#values.delete(key)
    for (const [key, sendings] of this.#sendings) if (userOf(key) === userId) sendings.sent.length = 0
  }

  /** Drops a copy without a report, unless it was attempted. */
  #vanish(copy: Event): void {
    if (this.#seen.has(copy.message.messageId)) return
    this.#copies = this.#copies.filter(other => other !== copy)
    this.trouble([keyOf(copy)])
  }

  #arrive(copy: Event): void {
    if (this.#seen.has(copy.message.messageId)) return
    this.#seen.add(copy.message.messageId)
    this.#values.set(keyOf(copy), valueIn(copy))
  }

  #end(copy: Event, end: DeliveryResult): void {
    this.#copies = this.#copies.filter(other => other !== copy)
    this.#tell(copy, end)
  }

  #tell(copy: Event, end: DeliveryResult): void {
    const report = reportOf(copy, copy.destinationId ?? '', end)
    if (report?.kind !== 'audience') throw new Error('no report')
    const sendings = this.#sendingsOf(keyOf(copy))
    const sent = sendings.sent.find(({ version }) => version === report.input.version)
    if (sent !== undefined) {
      const isLate = sent.isFailed || this.#now() - sent.at > maxCopyAge
      if (end !== 'delivered' || isLate) sendings.causes++
      if (end === 'delivered') sent.isDelivered = true
      else sent.isFailed = true
    }
    this.#report(report.input)
  }

  #checkCause(event: Event, key: string): void {
    const sendings = this.#sendingsOf(key)
    const value = valueIn(event)
    const last = sendings.sent.at(-1)
    if (value === (last?.value ?? absentOf(key))) {
      const isLapsed = last !== undefined && !last.isDelivered && this.#now() - last.at > maxCopyAge
      if (isLapsed) sendings.causes++
      sendings.repetitions++
      if (sendings.repetitions > sendings.causes) throw new Error(`sent without a change: ${key} ${value}`)
    }
    sendings.sent.push({
      version: event.origin?.version ?? 0,
      value,
      at: this.#now(),
      isDelivered: false,
      isFailed: false,
    })
  }

  #sendingsOf(key: string): Sendings {
    const sendings = this.#sendings.get(key) ?? { sent: [], causes: 0, repetitions: 0 }
    this.#sendings.set(key, sendings)
    return sendings
  }
}

const valueIn = ({ message }: Event): string => {
  const [value] = Object.values(JSON.parse(message.traits ?? '{}') as object)
  return JSON.stringify(value)
}

const keyOf = ({ origin, message, destinationId }: Event): string =>
  JSON.stringify([origin?.id, message.userId, destinationId])

const userOf = (key: string): string => JSON.parse(key)[1]

/** The value of a user who is not in the audience. */
const absentOf = (key: string): string => (JSON.parse(key)[0] === 'Score' ? 'null' : 'false')
