import { mayConflict, type References } from '../../core/config-objects/object-references.ts'

/**
 * The changes of configuration objects that this process is writing. A new change that may conflict
 * with one waits for it, and is then planned again. So this process never has to undo a change
 * because of another change of its own.
 */
export class ChangesInProgress {
  readonly #all = new Map<References, Promise<void>>()

  /**
   * Resolves when a conflicting change in progress has ended; `undefined` when none may conflict.
   */
  conflicting(references: References): Promise<void> | undefined {
    for (const [other, ended] of this.#all) if (mayConflict(other, references)) return ended
    return undefined
  }

  /** Calls `write`. The change is in progress until `write` has ended. */
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
