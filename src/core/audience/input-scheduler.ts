import { Fifo } from '../collections/fifo.ts'

/** An input that waits until it may start. */
export interface QueuedInput {
  /** The user that the input is about; `undefined` when it is about a whole audience. */
  readonly user: string | undefined
  /**
   * Whether the input must run alone: after all inputs before it are done, and before any input
   * after it starts. The result can change while an earlier input that runs alone is in progress.
   * So `InputScheduler` calls this function only after all these earlier inputs are done.
   */
  isFence(): boolean
}

/**
 * Schedules the inputs of one partition. Inputs of different users run concurrently, and inputs of
 * one user run in log order. An input with `isFence` runs alone.
 */
export class InputScheduler<Input extends QueuedInput> {
  /** Inputs, in log order, for which `next` has not yet decided whether they may start. */
  readonly #waiting = new Fifo<Input>()
  /**
   * Users with an input that is in progress or in `#ready`. The value is the queue of the user's
   * later inputs. It is `undefined` until there is a later input.
   */
  readonly #byUser = new Map<string, Fifo<Input> | undefined>()
  /** Inputs that may start because the previous input of the same user is done. */
  readonly #ready = new Fifo<Input>()
  /**
   * Number of inputs that have left `#waiting` and are not done. An input that runs alone starts
   * only when this number is 0.
   */
  #unfinished = 0
  #isFenced = false

  /** Whether an input that runs alone is in progress. */
  get isFenced(): boolean {
    return this.#isFenced
  }

  add(input: Input): void {
    this.#waiting.push(input)
  }

  /**
   * Returns an input that may start now, or `undefined` when the caller has to wait for `done` or
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

  /** Marks an input as done. The caller has to call this for each input that `next` returned. */
  done({ user }: Input): void {
    this.#unfinished--
    this.#isFenced = false
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
    if (input === undefined || this.#isFenced) return undefined
    const isFence = input.isFence()
    if (isFence && this.#unfinished > 0) return undefined
    this.#isFenced = isFence
    this.#unfinished++
    return this.#waiting.shift()
  }
}
