import type { TrackingAnswer, TrackingApi, TrackingRequest } from '../../src/core/tracking-api.ts'
import { Conditions } from './conditions.ts'

/** What stands behind the routes, as a test wants it: remembers what it was given, answers what it was told to. */
export class ScriptedTrackingApi implements TrackingApi {
  readonly requests: TrackingRequest[] = []
  readonly #changes = new Conditions()
  #reserved = 0
  #most = 0
  #answer: (request: TrackingRequest) => TrackingAnswer | Promise<TrackingAnswer> = () => everythingTaken
  /** How many bytes may be reserved at a time. */
  budget = Number.POSITIVE_INFINITY
  readonly #writeKeys: readonly string[]

  constructor(writeKeys: readonly string[] = ['KEY']) {
    this.#writeKeys = writeKeys
  }

  get reserved(): number {
    return this.#reserved
  }

  /** The most that was reserved since `forget`. */
  get mostReserved(): number {
    return this.#most
  }

  /** From now on requests are answered so. */
  answer(answer: (request: TrackingRequest) => TrackingAnswer | Promise<TrackingAnswer>): void {
    this.#answer = answer
  }

  forget(): void {
    this.requests.length = 0
    this.#most = this.#reserved
    this.#answer = () => everythingTaken
    this.budget = Number.POSITIVE_INFINITY
  }

  /** Resolves when so many requests have come in, or nothing is reserved any more, or whatever else is asked for. */
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
