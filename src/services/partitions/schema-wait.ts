import type { Clock, EventCodec, Logger } from '../../core/ports.ts'
import { durationMs } from '../../core/units.ts'
import type { Shard } from './shard.ts'

/** Between two tries to fetch a schema while the registry cannot be reached. */
const retryEvery = durationMs(1_000)

interface Deps<Open> {
  readonly codec: Pick<EventCodec, 'learn'>
  readonly clock: Clock
  readonly logger: Logger
  readonly decode: (open: Open) => void
  /** The registry knows no such schema id. */
  readonly unknown: (open: Open) => void
  /** Starts what was enqueued meanwhile. */
  readonly pump: () => void
}

/** Lets a partition stand at a record whose schema is not known yet, until it is. */
export type WaitForSchema<Open> = (open: Open, schemaId: number) => void

export function createSchemaWait<Open extends { readonly shard: Shard }>({
  codec,
  clock,
  logger,
  decode,
  unknown,
  pump,
}: Deps<Open>): WaitForSchema<Open> {
  const start: WaitForSchema<Open> = (open, schemaId) => {
    const { shard } = open
    shard.hold('schema')
    codec.learn(schemaId).then(
      known => goOn(open, known),
      (error: Error) => {
        logger.warn(
          { schemaId, topic: shard.topic, partition: shard.partition, error: error.message },
          'schema registry cannot be reached',
        )
        if (!shard.revoked) clock.after(retryEvery, () => start(open, schemaId))
      },
    )
  }

  /** What this record brings comes before what is behind it in the partition. */
  function goOn(open: Open, known: boolean): void {
    if (known) decode(open)
    else unknown(open)
    open.shard.unhold('schema')
    pump()
  }

  return start
}
