import type { LogConsumer } from '../../core/ports.ts'
import type { Shard } from '../partitions/shard.ts'

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

  mayStart(shard: Shard): boolean {
    return !this.#isClosed && !shard.revoked && shard.mayStart
  }

  /** Resolves when something of the partition may be started. False: it is not ours any more. */
  async toStart(shard: Shard): Promise<boolean> {
    while (!shard.revoked && !this.mayStart(shard)) await this.#release.promise
    return !shard.revoked
  }

  /** Whether something of the partition may be written that belongs to what was started before. */
  mayWrite(shard: Shard): boolean {
    return !shard.revoked && this.#consumer.isConfirmed()
  }

  /** Resolves when something of the partition may be written. False: it is not ours any more. */
  async toWrite(shard: Shard): Promise<boolean> {
    while (!shard.revoked && !this.mayWrite(shard)) await this.#release.promise
    return !shard.revoked
  }
}
