import { setImmediate } from 'node:timers/promises'
import type { DeadLetterReason } from '../../../src/core/delivery/outcomes-reasons-and-classification.ts'

/**
 * A message that was written to Kafka or posted to a collector. Times are ms of a monotonic clock.
 */
export interface Sent {
  readonly id: string
  readonly partition: number
  readonly at: number
  /**
   * When the in-sync replicas or a collector acknowledged the message. Undefined if they did not.
   */
  acknowledgedAt: number | undefined
  /** Name of the collector process to which the message was posted. */
  through?: string
}

/** An invalid record, which must end in the dead-letter topic. */
export interface BadSent {
  readonly id: string
  readonly reason: DeadLetterReason
  acknowledged: boolean
}

/** A record that is too large for a dead letter. Its dead letter is truncated. */
export interface OversizedSent {
  readonly partition: number
  readonly offset: number
  /**
   * Length of the value in bytes. Undefined if Hookline cannot decompress the batch, and
   * dead-letters it compressed.
   */
  readonly bytes: number | undefined
}

/** A request with messages to a collector, and its result. */
export interface Posted {
  /** Name of the collector process. Undefined if no collector listened. */
  readonly collector: string | undefined
  readonly messages: number
  readonly at: number
  readonly endedAt: number
  /** Status code, or `broken` when the connection ended before the response. */
  readonly answer: number | 'broken'
  readonly retryAfter: string | undefined
  /** Ids of the messages, if the sender repeated the request because the connection had closed. */
  readonly sentAgain?: readonly string[]
}

/**
 * How an endpoint responds: a status, or a fault.
 * - `reset`: resets the connection without a response.
 * - `hang`: no response.
 * - `half`: a 200 and half of its body, then a reset. Hookline counts this as a success.
 * - `trickle`: a response that is sent byte by byte, with pauses.
 */
export type Answer = number | 'reset' | 'hang' | 'half' | 'trickle' | DetailedAnswer

export interface DetailedAnswer {
  readonly status: number
  /** `Retry-After` header, in seconds. */
  readonly retryAfter?: number
  /** Absent: the default latency of the endpoint. */
  readonly afterMs?: number
}

/** Returns the status code of the response. Undefined if the response has none. */
export function statusOf(answer: Answer): number | undefined {
  if (typeof answer === 'number') return answer
  if (typeof answer === 'object') return answer.status
  return answer === 'half' ? 200 : undefined
}

/** A request that arrived at an endpoint. */
export interface Call {
  readonly id: string
  readonly destination: string
  readonly process: string
  /** When the request was complete. */
  readonly at: number
  readonly answer: Answer
  /**
   * When the response was sent or the connection closed. Undefined while the request is in
   * progress.
   */
  endedAt?: number | undefined
  /** Result of the endpoint's `inspection` of this request. Undefined if the endpoint has none. */
  readonly mark?: string | undefined
  /** The message, if `Ledger.sent` has it and the response was a success. */
  readonly sent?: Sent | undefined
}

/** A request that was answered with a success. */
export interface Delivery extends Call {
  readonly sent: Sent
}

type Listener = (delivery: Delivery) => void

const isDelivery = (call: Call): call is Delivery => call.sent !== undefined

export const isSuccess = ({ answer }: Pick<Call, 'answer'>): boolean => (statusOf(answer) ?? 500) < 300

/** Whether the response is final, because a retry would get the same response. */
function isRefusal({ answer }: Pick<Call, 'answer'>): boolean {
  const status = statusOf(answer) ?? 500
  return status >= 400 && status < 500 && status !== 408 && status !== 429
}

/**
 * What senders and endpoints observed of each message. This is not the ledger that Hookline stores
 * in Kafka.
 */
export class Ledger {
  readonly sent = new Map<string, Sent>()
  readonly posted: Posted[] = []
  readonly bad: BadSent[] = []
  readonly oversized: OversizedSent[] = []
  readonly calls: Call[] = []
  readonly deliveries: Delivery[] = []
  readonly #listeners = new Set<Listener>()
  readonly #names = new Map<string, string>()

  /**
   * Notes a request, and returns the stored object. Each distinct text is stored once, because a
   * soak has millions of requests.
   */
  note({ id, destination, process, ...request }: Call): Call {
    const message = this.sent.get(id)
    const call: Call = {
      ...{ id: message?.id ?? id, destination: this.#oneText(destination), process: this.#oneText(process) },
      ...{ ...request, endedAt: request.endedAt, sent: isSuccess(request) ? message : undefined },
    }
    this.calls.push(call)
    if (isDelivery(call)) {
      this.deliveries.push(call)
      for (const listener of this.#listeners) listener(call)
    }
    return call
  }

  /** Returns the stored text that equals `name`, so that each name is in memory once. */
  #oneText(name: string): string {
    const known = this.#names.get(name) ?? name
    this.#names.set(known, known)
    return known
  }

  acknowledged(): readonly Sent[] {
    return [...this.sent.values()].filter(({ acknowledgedAt }) => acknowledgedAt !== undefined)
  }

  /**
   * Returns the rejected deliveries, each as `<destination> <message id>`. All must be dead
   * letters.
   */
  refused(): ReadonlySet<string> {
    return new Set(this.calls.filter(isRefusal).map(targetOf))
  }

  /** Returns the process that made the last delivery of each partition. */
  owners(): ReadonlyMap<number, string> {
    return new Map(this.deliveries.map(({ sent, process }) => [sent.partition, process]))
  }

  /**
   * Waits until a delivery with each of `keys` has arrived since `from`. Resolves with the time of
   * the last one, or undefined after `patienceMs`.
   */
  seen(
    keys: ReadonlySet<string>,
    awaited: AwaitedDeliveries & { readonly patienceMs: number },
  ): Promise<number | undefined> {
    return this.#seen(new Set(keys), awaited)
  }

  /**
   * Does the same as `seen`, and removes each key from the caller's set `missing` when a delivery
   * with this key has arrived.
   */
  async #seen(
    missing: Set<string>,
    { from, patienceMs, keyOf }: AwaitedDeliveries & { readonly patienceMs: number },
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

  /**
   * Resolves when each destination has accepted or rejected every acknowledged event, or after
   * `patienceMs`. Call it after the last event.
   */
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
 * Number of items, about 20 ms of work, after which a loop lets the receivers in this thread
 * respond.
 */
const stepItems = 10_000

export interface AwaitedDeliveries {
  readonly from: number
  /** Undefined if the delivery does not count. */
  readonly keyOf: (delivery: Delivery) => string | undefined
}

export const targetOf = ({ id, destination }: { readonly id: string; readonly destination: string }): string =>
  `${destination} ${id}`
