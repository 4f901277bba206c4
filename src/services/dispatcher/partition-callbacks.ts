import type { LogRecord } from '../../core/ports.ts'
import type { Notices } from '../notices/notices.ts'
import type { OwnershipGate } from '../partitions/ownership-gate.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import type { Admission } from '../partitions/partitions.ts'
import type { AttemptStarter } from './attempt-starter.ts'
import type { Intake } from './intake.ts'

interface Parts {
  readonly intake: Intake
  readonly starter: AttemptStarter
  readonly notices: Pick<Notices, 'handOver'>
  readonly gate: OwnershipGate
}

/** Connects the partitions of all topics with the intake and the attempt starter. */
export class DispatcherPartitionCallbacks implements Admission {
  readonly #intake: Intake
  readonly #starter: AttemptStarter
  readonly #notices: Pick<Notices, 'handOver'>
  readonly #gate: OwnershipGate
  #isClosed = false

  constructor({ intake, starter, notices, gate }: Parts) {
    this.#intake = intake
    this.#starter = starter
    this.#notices = notices
    this.#gate = gate
  }

  usesStalledLimits(): boolean {
    return this.#starter.isStalled
  }

  assigned(processor: PartitionProcessor): void {
    if (this.#isClosed) processor.pause('stopping')
  }

  /**
   * Stops the admission of records when the service stops. Otherwise, Hookline would still
   * dead-letter invalid records, which would prolong the stop.
   */
  close(processors: readonly PartitionProcessor[]): void {
    this.#isClosed = true
    for (const processor of processors) processor.pause('stopping')
    this.#starter.close()
  }

  admit(record: LogRecord, processor: PartitionProcessor): void {
    this.#intake.take(record, processor)
  }

  admitted(processor: PartitionProcessor): void {
    this.#starter.dispatch()
    this.#starter.spillBacklog(processor)
  }

  revoked(processor: PartitionProcessor): void {
    this.#gate.release()
    this.#intake.forget(processor)
  }

  handOver(processor: PartitionProcessor): void {
    this.#notices.handOver(processor)
    this.#starter.handOver(processor)
  }

  released(): void {
    this.#gate.release()
    this.#starter.release()
  }
}
