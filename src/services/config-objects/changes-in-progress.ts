import { mayConflict, type References } from '../../core/config-objects/references.ts'

/**
 * The changes that this process is writing. A change that may conflict with one of them waits, and
 * is then planned again. So no change of this process has to be taken back because of another one.
 */
export class ChangesInProgress {
  readonly #all = new Map<References, Promise<void>>()

  /** Returns the end of a change in progress that may conflict; `undefined` if there is none. */
  conflicting(references: References): Promise<void> | undefined {
    for (const [other, ended] of this.#all) if (mayConflict(other, references)) return ended
    return undefined
  }

  /** Calls `write`, which makes a change. The change is in progress until the result is there. */
  async during<T>(references: References, write: () => Promise<T>): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#all.set(references, promise)
    try {
      return await write()
    } finally {
      this.#all.delete(references)
      resolve()
    }
  }
}
