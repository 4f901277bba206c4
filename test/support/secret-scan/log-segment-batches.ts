/** A record batch in a segment file of Kafka (message format 2). */
export interface Batch {
  /** Offset of the first record in the batch. */
  readonly baseOffset: bigint
  /** Position of the first byte after the batch in the file. */
  readonly end: number
  readonly isCompressed: boolean
}

const attributesAt = 21
const headerBytes = 61
/** The bits of a batch's attributes that name its compression. */
const compressionMask = 0b111

/** The batches of a segment file. An incomplete batch at the end of the file is left out. */
export function* batchesOf(segment: Buffer): Generator<Batch> {
  for (let start = 0; start + headerBytes <= segment.length; ) {
    const end = start + 12 + segment.readInt32BE(start + 8)
    if (end < start + headerBytes || end > segment.length) return
    const isCompressed = (segment.readInt16BE(start + attributesAt) & compressionMask) !== 0
    yield { baseOffset: segment.readBigInt64BE(start), end, isCompressed }
    start = end
  }
}
