import { internal, replaceInternal } from '../internals.ts'

interface Decoded {
  readonly firstOffset: string
  readonly lastOffsetDelta: number
  readonly maxTimestamp: string
  readonly records: object[]
}
type Decode = (decoder: unknown) => Promise<Decoded>

const file = 'protocol/recordBatch/v0/decoder'

/**
 * Compaction keeps the last batch of an idempotent producer although all its records are gone. kafkajs sees no record, keeps its position and
 * asks again, thousands of times a second, for ever (tulios/kafkajs#1072); where only the last records of a batch are gone, it asks once
 * more for each of them. So a batch whose last offset has no record gets a control record there: nobody is shown it, and the position moves.
 */
export function cureEmptyBatch(): void {
  const decode = internal<Decode>(file)
  replaceInternal<Decode>(file, async decoder => {
    const batch = await decode(decoder)
    const last = (BigInt(batch.firstOffset) + BigInt(batch.lastOffsetDelta)).toString()
    const lastRecord = batch.records.at(-1) as { offset: string } | undefined
    if (lastRecord?.offset !== last) batch.records.push(controlRecord(batch, last))
    return batch
  })
}

/** The key is that of a commit marker, and not of a transaction: it ends none. */
function controlRecord({ records: _, ...batch }: Decoded, offset: string): object {
  return {
    magicByte: 2,
    attributes: 0,
    timestamp: batch.maxTimestamp,
    offset,
    key: Buffer.from([0, 0, 0, 1]),
    value: null,
    headers: {},
    isControlRecord: true,
    batchContext: { ...batch, inTransaction: false },
  }
}
