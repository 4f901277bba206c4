import { Fifo } from '../collections/fifo.ts'

/** An input that waits until it may start. */
export interface QueuedInput {
  /** The user of the input; `undefined` if the input is about a whole audience. */
  readonly user: string | undefined
  /**
   * Whether the input must run alone. Call this only after earlier inputs that run alone are done,
   * because they can change the result.
   */
  mustRunAlone(): boolean
}

/**
 * Runs the inputs of one user in log order, and inputs of different users concurrently. An input
 * with `mustRunAlone` runs alone.
 */
export class InputScheduler<Input extends QueuedInput> {
  /** Inputs, in log order, that `next` has not examined yet. */
  readonly #waiting = new Fifo<Input>()
  /**
   * Users with an input in progress or in `#ready`, each with the queue of later inputs, if any.
   */
  readonly #byUser = new Map<string, Fifo<Input> | undefined>()
  /** Inputs whose user has no earlier input in progress. */
  readonly #ready = new Fifo<Input>()
  /** Number of inputs that have left `#waiting` and are not done. */
  #unfinished = 0
  #isInputRunningAlone = false

  get isInputRunningAlone(): boolean {
    return this.#isInputRunningAlone
  }

  add(input: Input): void {
    this.#waiting.push(input)
  }

  /**
   * Returns an input that may start, or `undefined` when the caller has to wait for `done` or
   * `add`.
   */
  next(): Input | undefined {
    const ready = this.#ready.shift()
    if (ready !== undefined) return ready
    for (let input = this.#examineNext(); input !== undefined; input = this.#examineNext()) {
      const { user } = input
      if (user === undefined) return input
      if (this.#byUser.has(user)) this.#queueBehind(user, input)
      else {
        this.#byUser.set(user, undefined)
        return input
      }
    }
    return undefined
  }

  /** Marks an input as done. Call it for each result of `next`. */
  done({ user }: Input): void {
    this.#unfinished--
    this.#isInputRunningAlone = false
    if (user === undefined) return
    const behind = this.#byUser.get(user)?.shift()
    if (behind === undefined) this.#byUser.delete(user)
    else this.#ready.push(behind)
  }

  #queueBehind(user: string, input: Input): void {
    const behind = this.#byUser.get(user) ?? new Fifo()
    behind.push(input)
    this.#byUser.set(user, behind)
  }

  #examineNext(): Input | undefined {
    const input = this.#waiting.peek()
    if (input === undefined || this.#isInputRunningAlone) return undefined
    const mustRunAlone = input.mustRunAlone()
    if (mustRunAlone && this.#unfinished > 0) return undefined
    this.#isInputRunningAlone = mustRunAlone
    this.#unfinished++
    return this.#waiting.shift()
  }
}
