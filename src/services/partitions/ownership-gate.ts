import type { PartitionProcessor } from './partition-processor.ts'

/**
 * Delays work until this process certainly owns the partition.
 * - `toStart`: waits until a record may be processed. No record may start during a revocation or a
 *   stop.
 * - `toWrite`: waits until results may be written, also during a revocation. A process that was
 *   frozen must not write, because another process may own the partition by now.
 */
export class OwnershipGate {
  #isClosed = false
  #release = Promise.withResolvers<void>()

  /**
   * Prevents the processing of further records. Results of records in progress may still be
   * written.
   */
  close(): void {
    this.#isClosed = true
  }

  /**
   * Lets all waiting callers check their condition again. Called when partitions are revoked, or
   * when the ownership is confirmed again.
   */
  release(): void {
    const { resolve } = this.#release
    this.#release = Promise.withResolvers()
    resolve()
  }

  mayStart(processor: PartitionProcessor): boolean {
    return !this.#isClosed && !processor.revoked && processor.mayStart
  }

  /**
   * Waits until the processing of a record may start (`true`), or until the partition is revoked
   * (`false`).
   */
  async toStart(processor: PartitionProcessor): Promise<boolean> {
    while (!processor.revoked && !this.mayStart(processor)) await this.#release.promise
    return !processor.revoked
  }

  /** Waits until results may be written, or until the partition is revoked. */
  async toWrite(processor: PartitionProcessor): Promise<void> {
    while (!processor.revoked && !processor.mayWrite) await this.#release.promise
  }
}
