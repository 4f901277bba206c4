import { flowLimits } from '../../core/flow/flow-control-constants.ts'
import type { Clock, EventCodec, Logger } from '../../core/ports.ts'
import type { PartitionProcessor } from './partition-processor.ts'

const { schemaRetryEvery: retryEvery } = flowLimits.admission

interface Deps<Open> {
  readonly codec: Pick<EventCodec, 'learn'>
  readonly clock: Clock
  readonly logger: Logger
  readonly decode: (open: Open) => void
  /** Called when the registry does not know the schema id. */
  readonly unknown: (open: Open) => void
  readonly dispatch: () => void
}

/** Pauses a partition at a record with an unknown schema until the schema registry has answered. */
export type WaitForSchema<Open> = (open: Open, schemaId: number) => void

export function createSchemaWait<Open extends { readonly processor: PartitionProcessor }>({
  codec,
  clock,
  logger,
  decode,
  unknown,
  dispatch,
}: Deps<Open>): WaitForSchema<Open> {
  const start: WaitForSchema<Open> = (open, schemaId) => {
    const { processor } = open
    processor.pause('schema')
    const retryLater = (): void => {
      if (!processor.revoked) clock.after(retryEvery, () => start(open, schemaId))
    }
    codec.learn(schemaId).then(
      known => (processor.isEnding ? retryLater() : proceed(open, known)),
      (error: Error) => {
        logger.warn(
          { schemaId, topic: processor.topic, partition: processor.partition, error: error.message },
          'hookline could not get the schema of a record from the schema registry (see "error"), so this record and the later records of its partition wait: check the schema registry; hookline asks again every second',
        )
        retryLater()
      },
    )
  }

  /** Handles the waiting record before the partition resumes, so that later records follow it. */
  function proceed(open: Open, known: boolean): void {
    if (known) decode(open)
    else unknown(open)
    open.processor.resume('schema')
    dispatch()
  }

  return start
}
