import type {
  Admission,
  BodyMemory,
  TrackingAnswer,
  TrackingApi,
  TrackingRequest,
} from '../../../src/core/collector/tracking-api.ts'
import { refusal } from '../../../src/core/message/request-refusal.ts'
import { Conditions } from '../awaited-conditions.ts'

/** A tracking API behind the real routes, with scripted responses. */
export class ScriptedTrackingApi implements TrackingApi {
  readonly requests: TrackingRequest[] = []
  readonly #changes = new Conditions()
  #reserved = 0
  #most = 0
  #answer: (request: TrackingRequest) => TrackingAnswer | Promise<TrackingAnswer> = () => everythingTaken
  /** Maximum bytes that can be reserved at the same time. */
  budget = Number.POSITIVE_INFINITY
  /** Maximum bytes that `canEverHold` permits. `take` does not check this maximum. */
  maxPerRequest = Number.POSITIVE_INFINITY
  readonly #writeKeys: readonly string[]
  readonly #open = new Set<() => void>()
  /** Write keys that were checked before or while the body was read. */
  readonly admissions: string[] = []
  admission: (key: string) => Admission = everybodyAdmitted

  constructor(writeKeys: readonly string[] = ['KEY']) {
    this.#writeKeys = writeKeys
  }

  get reserved(): number {
    return this.#reserved
  }

  /** Maximum number of bytes reserved at the same time since the last `forget`. */
  get mostReserved(): number {
    return this.#most
  }

  answer(answer: (request: TrackingRequest) => TrackingAnswer | Promise<TrackingAnswer>): void {
    this.#answer = answer
  }

  forget(): void {
    this.requests.length = 0
    this.admissions.length = 0
    this.admission = everybodyAdmitted
    this.#most = this.#reserved
    this.#answer = () => everythingTaken
    this.budget = Number.POSITIVE_INFINITY
    this.maxPerRequest = Number.POSITIVE_INFINITY
  }

  until(condition: () => boolean): Promise<void> {
    return this.#changes.until(condition)
  }

  async accept(request: TrackingRequest): Promise<TrackingAnswer> {
    this.requests.push(request)
    this.#changes.changed()
    return await this.#answer(request)
  }

  isWriteKey(key: string): boolean {
    return this.#writeKeys.includes(key)
  }

  admit(key: string): Admission {
    this.admissions.push(key)
    return this.admission(key)
  }

  openBody(_owner: unknown, onEvicted: () => void): BodyMemory {
    let bytes = 0
    let isReceived = false
    const memory = {
      take: (more: number): boolean => {
        const isTaken = this.reserve(more)
        if (isTaken) bytes += more
        return isTaken
      },
      canEverHold: (more: number): boolean => bytes + more <= this.maxPerRequest,
      assign: (): boolean => true,
      received: (): void => {
        isReceived = true
      },
      answered: (length: number): void => {
        isReceived = false
        const surplus = Math.max(0, bytes - length)
        if (surplus > 0) this.release(surplus)
        bytes -= surplus
      },
      release: (): void => {
        this.#open.delete(evict)
        if (bytes > 0) this.release(bytes)
        bytes = 0
      },
    }
    const evict = (): void => {
      if (isReceived) return
      memory.release()
      onEvicted()
    }
    this.#open.add(evict)
    return memory
  }

  evictAll(): void {
    for (const evict of this.#open) evict()
  }

  reserve(bytes: number): boolean {
    if (!(Number.isInteger(bytes) && bytes > 0)) throw new Error(`reserve(${bytes})`)
    if (this.#reserved + bytes > this.budget) return false
    this.#reserved += bytes
    this.#most = Math.max(this.#most, this.#reserved)
    this.#changes.changed()
    return true
  }

  release(bytes: number): void {
    this.#reserved -= bytes
    if (this.#reserved < 0) throw new Error(`release(${bytes}): more than was reserved`)
    this.#changes.changed()
  }
}

export const everythingTaken: TrackingAnswer = { kind: 'accepted', rejected: [] }

const everybodyAdmitted = (): Admission => ({ kind: 'admitted', sourceId: 'web' })

export const rateLimited = refusal('rate_limited', 'This source sends too much: send again in 3 s.', { retryAfter: 3 })
