import type { PartitionProcessor } from './partition-processor.ts'

/**
 * Delays work for a partition until this process certainly owns the partition.
 * - `toStart`: the processing of a record may start while the group confirms this process, the
 *   partition is not being revoked, and the service is not stopping.
 * - `toWrite`: results may be written until the revocation is complete, while the group confirms
 *   this process. Otherwise a frozen process would write records that the next owner writes too.
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
   * Lets all waiting callers check their condition again, when partitions are revoked or the group
   * confirms this process again.
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
   * Waits until the processing of a record may start. Resolves with false when the partition is
   * revoked before that.
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
