import type { LogRecord } from '../../core/ports.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import type { Admission } from '../partitions/partitions.ts'
import type { AttemptScheduler } from './attempt-scheduler.ts'
import type { Intake } from './intake.ts'

/**
 * Connects the partitions with the intake and the attempt scheduler. The events topic and the retry
 * topics share one instance.
 */
export class DispatcherPartitionCallbacks implements Admission {
  readonly #intake: Intake
  readonly #scheduler: AttemptScheduler

  constructor(intake: Intake, scheduler: AttemptScheduler) {
    this.#intake = intake
    this.#scheduler = scheduler
  }

  prefetchesDeeper(): boolean {
    return this.#scheduler.isStalled
  }

  assigned(): void {
    // Records are admitted immediately.
  }

  admit(record: LogRecord, processor: PartitionProcessor): void {
    this.#intake.take(record, processor)
  }

  /**
   * Starts the deliveries of the admitted records, and spills deliveries when the partition has
   * reached its limits.
   */
  admitted(processor: PartitionProcessor): void {
    this.#scheduler.dispatch()
    this.#scheduler.relieveBacklog(processor)
  }

  revoked(processor: PartitionProcessor): void {
    this.#intake.forget(processor)
  }

  handOver(processor: PartitionProcessor): void {
    this.#scheduler.handOver(processor)
  }

  released(): void {
    this.#scheduler.release()
  }
}
