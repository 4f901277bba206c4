import type { LogConsumer } from '../../core/ports.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'

/** Holds back what may not be done now: while the group has not confirmed us, a partition is being given up, or the service ends. */
export class Gate {
  readonly #consumer: Pick<LogConsumer, 'isConfirmed'>
  #isClosed = false
  #release = Promise.withResolvers<void>()

  constructor(consumer: Pick<LogConsumer, 'isConfirmed'>) {
    this.#consumer = consumer
  }

  /** Nothing is started any more; what has been started may still be written to its end. */
  close(): void {
    this.#isClosed = true
  }

  /** Something may be different now: whoever waits looks again. */
  release(): void {
    const { resolve } = this.#release
    this.#release = Promise.withResolvers()
    resolve()
  }

  mayStart(processor: PartitionProcessor): boolean {
    return !this.#isClosed && !processor.revoked && processor.mayStart
  }

  /** Resolves when something of the partition may be started. False: it is not ours any more. */
  async toStart(processor: PartitionProcessor): Promise<boolean> {
    while (!processor.revoked && !this.mayStart(processor)) await this.#release.promise
    return !processor.revoked
  }

  /** Whether something of the partition may be written that belongs to what was started before. */
  mayWrite(processor: PartitionProcessor): boolean {
    return !processor.revoked && this.#consumer.isConfirmed()
  }

  /** Resolves when something of the partition may be written. False: it is not ours any more. */
  async toWrite(processor: PartitionProcessor): Promise<boolean> {
    while (!processor.revoked && !this.mayWrite(processor)) await this.#release.promise
    return !processor.revoked
  }
}
