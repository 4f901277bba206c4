import { Fifo } from '../collections/fifo.ts'

/** An input that waits for its turn. */
export interface QueuedInput {
  /** Whom it is about; undefined: nobody in particular. */
  readonly user: string | undefined
  /** Whether every input before it has to be done first, and it before any after it. Asked when all before it have been looked at. */
  isFence(): boolean
}

/** Which inputs of one partition may be taken now: side by side, but those of one user one after the other, and a fence alone. */
export class InputOrder<Input extends QueuedInput> {
  /** Not looked at yet, in the order of the log. */
  readonly #waiting = new Fifo<Input>()
  /** Users of whom one is taken, with those that wait for it, if any do. */
  readonly #byUser = new Map<string, Fifo<Input> | undefined>()
  /** Those whose turn has come because the one before them is done. */
  readonly #freed = new Fifo<Input>()
  /** Looked at and not done. */
  #open = 0
  #isFenced = false

  add(input: Input): void {
    this.#waiting.push(input)
  }

  /** One that may be taken now; undefined: none until one is done or added. */
  next(): Input | undefined {
    const freed = this.#freed.shift()
    if (freed !== undefined) return freed
    for (let input = this.#lookedAt(); input !== undefined; input = this.#lookedAt()) {
      const { user } = input
      if (user === undefined) return input
      if (this.#byUser.has(user)) this.#putBehind(user, input)
      else {
        this.#byUser.set(user, undefined)
        return input
      }
    }
    return undefined
  }

  /** To be told of each input that `next` has given. */
  done({ user }: Input): void {
    this.#open--
    this.#isFenced = false
    if (user === undefined) return
    const behind = this.#byUser.get(user)?.shift()
    if (behind === undefined) this.#byUser.delete(user)
    else this.#freed.push(behind)
  }

  #putBehind(user: string, input: Input): void {
    const behind = this.#byUser.get(user) ?? new Fifo()
    behind.push(input)
    this.#byUser.set(user, behind)
  }

  #lookedAt(): Input | undefined {
    const input = this.#waiting.peek()
    if (input === undefined || this.#isFenced) return undefined
    const isFence = input.isFence()
    if (isFence && this.#open > 0) return undefined
    this.#isFenced = isFence
    this.#open++
    return this.#waiting.shift()
  }
}
