import { setImmediate } from 'node:timers/promises'
import type { DeadLetterReason } from '../../../src/core/delivery/outcome.ts'

/** A message that was sent: written to Kafka, or posted to a collector. Times are milliseconds of one monotonic clock. */
export interface Sent {
  readonly id: string
  readonly partition: number
  readonly at: number
  /** When all in-sync replicas had it, or a collector said so; undefined: nobody promised anything. */
  acknowledgedAt: number | undefined
  /** Which life of which collector it was posted to. */
  through?: string
}

/** A record that is no event, and has to end in the dead-letter topic. */
export interface BadSent {
  readonly id: string
  readonly reason: DeadLetterReason
  acknowledged: boolean
}

/** A request with messages, and what came of it. */
export interface Posted {
  /** Which life of which process it went to; undefined: none listened. */
  readonly collector: string | undefined
  readonly messages: number
  readonly at: number
  readonly endedAt: number
  /** A status; `broken`: the connection ended before the answer did. */
  readonly answer: number | 'broken'
  /** The `Retry-After` of the answer. */
  readonly retryAfter: string | undefined
}

/**
 * A status; `half`: a head that says 200, and half of its body, then a reset, which is a success, for only the status counts (A4.1);
 * `trickle`: an answer of which a byte comes now and then.
 */
export type Answer = number | 'reset' | 'hang' | 'half' | 'trickle' | DetailedAnswer

export interface DetailedAnswer {
  readonly status: number
  /** The header; a number of seconds. */
  readonly retryAfter?: number
  /** Absent: as the endpoint does with all. */
  readonly afterMs?: number
}

/** Undefined: there is no answer that counts. */
export function statusOf(answer: Answer): number | undefined {
  if (typeof answer === 'number') return answer
  if (typeof answer === 'object') return answer.status
  return answer === 'half' ? 200 : undefined
}

/** A call that came in at the receiver. */
export interface Call {
  readonly id: string
  readonly destination: string
  /** Which life of which process made it. */
  readonly process: string
  /** When its request was complete. */
  readonly at: number
  readonly answer: Answer
  /** When the answer was out, or the connection gone; undefined: not yet. */
  endedAt?: number
  /** What the endpoint has noted of the request. */
  readonly mark?: string | undefined
}

/** A call that was answered with a success. */
export interface Delivery extends Call {
  readonly sent: Sent
}

type Listener = (delivery: Delivery) => void

export const isSuccess = ({ answer }: Pick<Call, 'answer'>): boolean => (statusOf(answer) ?? 500) < 300

/** Another try would change nothing (A4.3). */
function isRefusal({ answer }: Pick<Call, 'answer'>): boolean {
  const status = statusOf(answer) ?? 500
  return status >= 400 && status < 500 && status !== 408 && status !== 429
}

/** Who sent what, and what came of it, by message id: seen from outside only, at both ends. */
export class Ledger {
  readonly sent = new Map<string, Sent>()
  readonly posted: Posted[] = []
  readonly bad: BadSent[] = []
  readonly calls: Call[] = []
  /** In the order in which they came. */
  readonly deliveries: Delivery[] = []
  readonly #listeners = new Set<Listener>()

  note(call: Call): void {
    this.calls.push(call)
    const sent = this.sent.get(call.id)
    if (sent === undefined || !isSuccess(call)) return
    const delivery = { ...call, sent }
    this.deliveries.push(delivery)
    for (const listener of this.#listeners) listener(delivery)
  }

  acknowledged(): readonly Sent[] {
    return [...this.sent.values()].filter(({ acknowledgedAt }) => acknowledgedAt !== undefined)
  }

  /** Targets that their endpoint has refused for good: they belong into the dead-letter topic. */
  refused(): ReadonlySet<string> {
    return new Set(this.calls.filter(isRefusal).map(targetOf))
  }

  /** The process that made the last delivery of each partition. */
  owners(): ReadonlyMap<number, string> {
    return new Map(this.deliveries.map(({ sent, process }) => [sent.partition, process]))
  }

  /**
   * Resolves with the moment at which each of `keys` has been seen, among the deliveries since `from` and those to come; undefined when that
   * is not so after `patienceMs` from now.
   */
  seen(keys: ReadonlySet<string>, awaited: Awaited & { readonly patienceMs: number }): Promise<number | undefined> {
    return this.#seen(new Set(keys), awaited)
  }

  /** Takes what it sees out of `missing`. */
  async #seen(
    missing: Set<string>,
    { from, patienceMs, keyOf }: Awaited & { readonly patienceMs: number },
  ): Promise<number | undefined> {
    let last = from
    if (missing.size === 0) return last
    const isLast = (delivery: Delivery): boolean => {
      if (delivery.at >= from && missing.delete(keyOf(delivery) ?? '')) last = delivery.at
      return missing.size === 0
    }
    let shown = 0
    for (const delivery of this.deliveries) {
      if (isLast(delivery)) return last
      if (++shown % stepItems === 0) await setImmediate()
    }
    return new Promise(resolve => {
      const done = (moment: number | undefined): void => {
        clearTimeout(timer)
        this.#listeners.delete(look)
        resolve(moment)
      }
      const timer = setTimeout(done, patienceMs, undefined)
      const look: Listener = delivery => void (isLast(delivery) && done(last))
      this.#listeners.add(look)
    })
  }

  /** Resolves when every acknowledged event that was not refused is delivered to all of `destinations`, or after `patienceMs`. Nothing more may be sent. */
  async settled(destinations: readonly string[], patienceMs: number): Promise<void> {
    const targets = new Set<string>()
    let shown = 0
    for (const { id, acknowledgedAt } of this.sent.values()) {
      if (acknowledgedAt !== undefined)
        for (const destination of destinations) targets.add(targetOf({ id, destination }))
      if (++shown % stepItems === 0) await setImmediate()
    }
    for (const call of this.calls) {
      if (isRefusal(call)) targets.delete(targetOf(call))
      if (++shown % stepItems === 0) await setImmediate()
    }
    await this.#seen(targets, { from: 0, patienceMs, keyOf: targetOf })
  }
}

/**
 * After so many, some 20 ms, others are let in. The receivers answer on the same thread, and a call has seconds: to go through the millions of
 * a long run in one piece would take as long.
 */
const stepItems = 10_000

export interface Awaited {
  readonly from: number
  /** What a delivery counts as; undefined: it does not count. */
  readonly keyOf: (delivery: Delivery) => string | undefined
}

/** `<destination> <message id>`: one delivery that has to be made. */
export const targetOf = ({ id, destination }: { readonly id: string; readonly destination: string }): string =>
  `${destination} ${id}`
