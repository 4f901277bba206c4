/** A record batch in a segment file of Kafka (message format 2). */
export interface Batch {
  readonly baseOffset: bigint
  /** Position in the file of the first byte after the batch. */
  readonly end: number
  readonly isCompressed: boolean
}

const attributesAt = 21
const headerBytes = 61
const compressionMask = 0b111

/** The batches of a segment file, without an incomplete one at its end. */
export function* batchesOf(segment: Buffer): Generator<Batch> {
  for (let start = 0; start + headerBytes <= segment.length; ) {
    const end = start + 12 + segment.readInt32BE(start + 8)
    if (end < start + headerBytes || end > segment.length) return
    const isCompressed = (segment.readInt16BE(start + attributesAt) & compressionMask) !== 0
    yield { baseOffset: segment.readBigInt64BE(start), end, isCompressed }
    start = end
  }
}
