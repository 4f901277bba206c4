import type { LogRecord } from '../../../../src/core/ports.ts'
import { type EpochMs, epochMs } from '../../../../src/core/time.ts'
import type { PartitionProcessor } from '../../../../src/services/partitions/partition-processor.ts'
import { createPartitions, type LedgerWriter } from '../../../../src/services/partitions/partitions.ts'
import { recordOf } from '../../../support/builders.ts'
import { noAdmission, partition, ScriptedConsumer } from '../../../support/kafka/scripted-consumer.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'

export const mebibyte = Buffer.alloc(1024 * 1024)

export interface Given {
  readonly offsets: readonly number[]
  /** The end offset of the log. By default, it is the offset after the last record. */
  readonly end?: number
  /** The value of each record. */
  readonly value?: Buffer
  /**
   * Seconds from the start until a record is due, by its offset. By default, records are due
   * immediately.
   */
  readonly dueAfter?: Readonly<Record<number, number>>
  /**
   * Seconds that each record of a retry topic waits, from its timestamp. It replaces `dueAfter`.
   */
  readonly waitSeconds?: number
  /** Seconds from the start to the timestamp of each record. */
  readonly timestamps?: Readonly<Record<number, number>>
  readonly onRecord?: (record: LogRecord, processor: PartitionProcessor) => void
  readonly ledger?: LedgerWriter
}

export function setUp({
  offsets,
  end = (offsets.at(-1) ?? -1) + 1,
  value,
  dueAfter = {},
  onRecord,
  ledger,
  ...given
}: Given) {
  const { waitSeconds, timestamps = {} } = given
  const clock = new ManualClock()
  const startedAt = clock.now()
  const records = offsets.map(offset =>
    recordOf({
      ...{ ...partition, offset, key: null, timestamp: epochMs(startedAt + (timestamps[offset] ?? 0) * 1_000) },
      ...(value !== undefined && { value }),
    }),
  )
  const consumer = new ScriptedConsumer(records, end)
  const taken: number[] = []
  const logger = new RecordingLogger()
  const partitions = createPartitions({
    consumer,
    clock,
    logger,
    maxInFlight: 100,
    ...(ledger !== undefined && { ledger }),
    dueAt: ({ offset, timestamp }): EpochMs =>
      epochMs(
        waitSeconds === undefined ? startedAt + (dueAfter[offset] ?? 0) * 1_000 : timestamp + waitSeconds * 1_000,
      ),
    admission: {
      ...noAdmission,
      admit(record, processor) {
        taken.push(record.offset)
        onRecord?.(record, processor)
      },
    },
  })
  void consumer.start(partitions.handlers)
  consumer.assign({ offset: offsets[0] ?? 0, metadata: '' })
  return {
    ...{ clock, consumer, taken, partitions, logger },
    processor: (): PartitionProcessor | undefined => [...partitions.processors()][0],
    committable: (): number[] => partitions.handlers.positions().map(({ offset }) => offset),
  }
}

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, offset) => offset)
