import { mayConflict, type References } from '../../core/config-objects/object-references.ts'

/**
 * The changes of configuration objects that this process is writing. A new change that may conflict
 * with one of them waits for its end, and is then planned again. So this process never has to undo
 * a change because of another change that it wrote itself.
 */
export class ChangesInProgress {
  readonly #all = new Map<References, Promise<void>>()

  /**
   * Returns a promise that resolves when a change in progress that may conflict with `references`
   * has ended; `undefined` when none may conflict.
   */
  conflicting(references: References): Promise<void> | undefined {
    for (const [other, ended] of this.#all) if (mayConflict(other, references)) return ended
    return undefined
  }

  /** Calls `write`, which makes a change. The change is in progress until `write` has ended. */
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
