import { mayConflict, type References } from '../../core/config-objects/check-object-references.ts'

/**
 * The changes that this process is writing. If a new change may conflict with a change in progress,
 * the new change waits until the earlier write has ended, and is then planned again. If this
 * process wrote both changes concurrently, it would have to undo one of them.
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
