import type { Clock, EventCodec, Logger } from '../../core/ports.ts'
import { durationMs } from '../../core/units.ts'
import type { OpenRecord } from './delivery.ts'
import type { Shard } from './shard.ts'

/** Between two tries to fetch a schema while the registry cannot be reached. */
const retryEvery = durationMs(1_000)

interface Deps {
  readonly codec: EventCodec
  readonly clock: Clock
  readonly logger: Logger
  readonly decode: (open: OpenRecord) => void
  /** The registry knows no such schema id. */
  readonly unknown: (open: OpenRecord) => void
  /** Deliveries may have been enqueued outside of any batch. */
  readonly pump: () => void
}

/** Partitions that stand at a record whose schema is not known yet: paused, with everything behind that record kept in order. */
export interface SchemaWait {
  holds(shard: Shard): boolean
  /** Puts a record behind those that wait already. */
  queue(open: OpenRecord): void
  start(open: OpenRecord, schemaId: number): void
}

export function createSchemaWait({ codec, clock, logger, decode, unknown, pump }: Deps): SchemaWait {
  const waiting = new Map<Shard, OpenRecord[]>()

  function start(open: OpenRecord, schemaId: number): void {
    const { shard } = open
    waiting.set(shard, waiting.get(shard) ?? [])
    shard.hold('schema')
    codec.learn(schemaId).then(
      known => goOn(open, known),
      (error: Error) => {
        logger.warn(
          { schemaId, topic: shard.topic, partition: shard.partition, error: error.message },
          'schema registry cannot be reached',
        )
        if (shard.revoked) waiting.delete(shard)
        else clock.after(retryEvery, () => start(open, schemaId))
      },
    )
  }

  /** The first one again, then those behind it, until one of them needs another schema. */
  function goOn(first: OpenRecord, known: boolean): void {
    const { shard } = first
    const behind = waiting.get(shard) ?? []
    waiting.delete(shard)
    if (known) decode(first)
    else unknown(first)
    for (const open of behind) {
      const stillWaiting = waiting.get(shard)
      if (stillWaiting === undefined) decode(open)
      else stillWaiting.push(open)
    }
    if (!waiting.has(shard)) shard.unhold('schema')
    pump()
  }

  return {
    holds: shard => waiting.has(shard),
    queue: open => waiting.get(open.shard)?.push(open),
    start,
  }
}
