import { mayConflict, type References } from '../../core/config-objects/object-references.ts'

/**
 * The changes that this process is writing. A change that may conflict with one of them waits until
 * the other has ended, and is then planned again, so that this process never undoes its own change.
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
