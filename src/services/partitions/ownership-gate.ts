import type { PartitionProcessor } from './partition-processor.ts'

/**
 * Delays work for a partition until this process certainly owns the partition.
 * - `toStart`: the processing of a record may start while the group confirms this process as a
 *   member, the partition is not being revoked, and the service is not stopping.
 * - `toWrite`: the results of a record in progress may be written until the revocation is complete,
 *   as long as the group confirms this process. Otherwise a process that was frozen would write
 *   records that the next owner of the partition writes too.
 */
export class OwnershipGate {
  #isClosed = false
  #release = Promise.withResolvers<void>()

  /**
   * Prevents the processing of further records. The results of records in progress may still be
   * written.
   */
  close(): void {
    this.#isClosed = true
  }

  /**
   * Called when partitions are being revoked or were revoked, and when the group confirms this
   * process again. All callers that wait check their condition again.
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
   * Waits until the processing of a record of the partition may start. Resolves with false when the
   * partition is revoked before that, otherwise with true.
   */
  async toStart(processor: PartitionProcessor): Promise<boolean> {
    while (!processor.revoked && !this.mayStart(processor)) await this.#release.promise
    return !processor.revoked
  }

  /**
   * Waits until the results of records in progress may be written. Resolves when they may be, or
   * when the partition is revoked.
   */
  async toWrite(processor: PartitionProcessor): Promise<void> {
    while (!processor.revoked && !processor.mayWrite) await this.#release.promise
  }
}
