/** What the receiver is to do, and which events it is to expect. */
export interface Script {
  /** The number of the first event, and how many there are from it on. */
  readonly first: number
  readonly count: number
  /** Milliseconds from a request's end to its answer. */
  readonly delayMs: number
  /** Of so many events of the second half one is delivered when it comes for the first time, the others are answered 503; 0: all are delivered. */
  readonly passesOneIn: number
  /** How many delivered events are told of at once, ascending. */
  readonly marks: readonly number[]
  /** Whether requests to the path that can die are taken and never answered. */
  readonly isDead: boolean
  /** Whether each success is kept with its time: 16 bytes a success. */
  readonly keepsLog: boolean
}

/** Successes in the order in which they were answered. */
export interface SuccessLog {
  readonly numbers: readonly number[]
  /** Milliseconds since 1970, with fractions. */
  readonly times: readonly number[]
}

export interface Tally {
  /** Different events answered with a success. */
  readonly delivered: number
  /** Successes beyond the first of each event. */
  readonly duplicates: number
  /** Requests that were about no event of the script. */
  readonly foreign: number
  /** Requests that were not to have success. */
  readonly refused: number
  readonly log: SuccessLog
}

/** Which of the expected events came, and how often. Made to cost next to nothing for each request. */
export class Ledger {
  readonly #script: Script
  readonly #arrivals: Uint8Array
  readonly #successes: Uint8Array
  readonly #numbers: number[] = []
  readonly #times: number[] = []
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

  /** A request has come. Returns whether it is to be answered with a success. */
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

  /** A success has been answered. Returns the mark that was reached by it, if any. */
  succeeded(number: number | undefined, at: number): number | undefined {
    const index = this.#index(number)
    if (index < 0) return undefined
    if (this.#script.keepsLog) {
      this.#numbers.push(number as number)
      this.#times.push(at)
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
    const log = { numbers: this.#numbers, times: this.#times }
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
