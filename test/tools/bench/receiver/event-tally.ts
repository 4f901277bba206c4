export interface Script {
  /** The events have the numbers from `first` to `first + count - 1`. */
  readonly first: number
  readonly count: number
  /** From the end of a request to its response. */
  readonly delayMs: number
  /**
   * With n > 0, only every n-th event of the second half succeeds at its first request. The others
   * get a 503.
   */
  readonly passesOneIn: number
  /** Numbers of deliveries, ascending, at which the receiver sends a `mark` message. */
  readonly marks: readonly number[]
  readonly isDead: boolean
  /**
   * A response closes its connection if the connection is at least this old. Default: the receiver
   * closes none.
   */
  readonly connectionLifeMs?: number
  /** Whether requests wait for the order `watch`, which may come late. Default: false. */
  readonly waitsForWatch?: boolean
  /** Whether to keep the time and path of each success. */
  readonly keepsLog: boolean
}

export interface SuccessLog {
  readonly numbers: readonly number[]
  /** In ms since 1970, with fractions. */
  readonly times: readonly number[]
  readonly paths: readonly string[]
}

export interface Tally {
  readonly delivered: number
  /** Successes beyond the first one of each event. */
  readonly duplicates: number
  /** Requests for events that are not in the script. */
  readonly foreign: number
  /** Requests that got a 503 because of `passesOneIn`. */
  readonly refused: number
  readonly log: SuccessLog
}

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

  /** Returns whether the receiver must respond with a success. */
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

  /** Records a success. Returns the number of delivered events if it is one of the `marks`. */
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
