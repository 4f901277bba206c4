/** Behaviour of the receiver, and the events that it expects. */
export interface Script {
  /** Number of the first event. The `count` events have consecutive numbers. */
  readonly first: number
  readonly count: number
  /** Milliseconds from the end of a request to its response. */
  readonly delayMs: number
  /**
   * Selects the events whose first request gets a 503. 0: none. n > 0: of the second half of the
   * `count` events, all except every n-th one.
   */
  readonly passesOneIn: number
  /**
   * Counts of delivered events, ascending. When the receiver reaches one of these counts, it
   * immediately sends a `mark`.
   */
  readonly marks: readonly number[]
  /** Whether requests to `failingPath` get no response. */
  readonly isDead: boolean
  /** Whether to keep the time and path of each success, which needs 24 bytes per success. */
  readonly keepsLog: boolean
}

/** Successes in the order of their responses. */
export interface SuccessLog {
  readonly numbers: readonly number[]
  /** Time of each success, in milliseconds since 1970, with fractions. */
  readonly times: readonly number[]
  /** Path of the URL of each success. */
  readonly paths: readonly string[]
}

export interface Tally {
  /** Number of different events with a success. */
  readonly delivered: number
  /** Number of successes beyond the first success of each event. */
  readonly duplicates: number
  /** Number of requests for events that are not in the script. */
  readonly foreign: number
  /** Number of requests that got a 503 because of `passesOneIn`. */
  readonly refused: number
  readonly log: SuccessLog
}

/** Counts the requests for each expected event, at very low cost per request. */
export class EventTally {
  readonly #script: Script
  readonly #arrivals: Uint8Array
  readonly #successes: Uint8Array
  readonly #numbers: number[] = []
  readonly #times: number[] = []
  readonly #paths: string[] = []
  #delivered = 0
  #duplicates = 0
  #foreign = 0
  #refused = 0
  #nextMark = 0

  constructor(script: Script) {
    this.#script = script
    this.#arrivals = new Uint8Array(script.count)
    this.#successes = new Uint8Array(script.count)
  }

  get delivered(): number {
    return this.#delivered
  }

  /** Records a request. Returns whether the receiver must respond with a success. */
  arrived(number: number | undefined): boolean {
    const index = this.#index(number)
    if (index < 0) {
      this.#foreign++
      return true
    }
    const before = this.#arrivals[index] ?? 0
    this.#arrivals[index] = before + 1
    const { passesOneIn, count } = this.#script
    if (passesOneIn === 0 || before > 0 || index < count / 2 || index % passesOneIn === 0) return true
    this.#refused++
    return false
  }

  /**
   * Records a success. Returns the number of delivered events if this number is one of the `marks`,
   * otherwise undefined.
   */
  succeeded(number: number | undefined, at: number, path = ''): number | undefined {
    const index = this.#index(number)
    if (index < 0) return undefined
    if (this.#script.keepsLog) {
      this.#numbers.push(number as number)
      this.#times.push(at)
      this.#paths.push(path)
    }
    const before = this.#successes[index] ?? 0
    this.#successes[index] = before + 1
    if (before > 0) {
      this.#duplicates++
      return undefined
    }
    this.#delivered++
    if (this.#script.marks[this.#nextMark] !== this.#delivered) return undefined
    this.#nextMark++
    return this.#delivered
  }

  tally(): Tally {
    const log = { numbers: this.#numbers, times: this.#times, paths: this.#paths }
    return {
      delivered: this.#delivered,
      duplicates: this.#duplicates,
      foreign: this.#foreign,
      refused: this.#refused,
      log,
    }
  }

  #index(number: number | undefined): number {
    const index = (number ?? -1) - this.#script.first
    return index >= 0 && index < this.#script.count ? index : -1
  }
}
