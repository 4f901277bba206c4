import { internal } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'

/**
 * Encodes a record batch (magic 2) as a broker does. `deltas` are the differences of the record
 * offsets from `firstOffset`.
 */
export function rawBatch(firstOffset: number, lastOffsetDelta: number, deltas: readonly number[]): Buffer {
  const records = deltas.map(delta => {
    const body = Buffer.from([0, 0, ...varint(delta), ...varint(-1), ...varint(-1), 0])
    return Buffer.concat([Buffer.from(varint(body.length)), body])
  })
  const head = Buffer.alloc(61)
  head.writeBigInt64BE(BigInt(firstOffset), 0)
  head.writeInt8(2, 16)
  head.writeInt32BE(lastOffsetDelta, 23)
  head.writeBigInt64BE(-1n, 43)
  head.writeInt32BE(deltas.length, 57)
  const batch = Buffer.concat([head, ...records])
  batch.writeInt32BE(batch.length - 12, 8)
  return batch
}

function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = value < 0 ? -2 * value - 1 : 2 * value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return [...bytes, rest]
}

interface Decoded {
  readonly offset: string
  readonly isControlRecord: boolean
}

/** Decodes the record set of one partition in a fetch response with kafkajs. */
export async function decodeRecordSet(...batches: readonly Buffer[]): Promise<readonly Decoded[]> {
  const bytes = Buffer.concat(batches)
  const length = Buffer.alloc(4)
  length.writeInt32BE(bytes.length)
  const Decoder = internal<new (bytes: Buffer) => object>('protocol/decoder')
  const decode = internal<(decoder: object) => Promise<readonly Decoded[]>>('protocol/requests/fetch/v4/decodeMessages')
  return decode(new Decoder(Buffer.concat([length, bytes])))
}
