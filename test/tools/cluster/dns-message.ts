/** A query of one name (RFC 1035 §4.1.2). */
export interface Query {
  readonly name: string
  /** Whether the query is for IPv4 addresses (type A). */
  readonly isForAddress: boolean
  readonly end: number
}

/** `no data`: the name has no address of the queried type. `no name`: the name does not exist. */
export type Result = { readonly address: string } | 'no data' | 'no name'

const headerBytes = 12
const typeA = 1
const classIn = 1
const ttlSeconds = 5
/** The message is a response, and the server is authoritative. */
const responseFlags = 0x8400
const recursionDesired = 0x0100
const nameError = 3

/** Reads the first question of a message. Undefined if the message has no complete question. */
export function readQuery(message: Buffer): Query | undefined {
  const labels: string[] = []
  let at = headerBytes
  for (;;) {
    const length = message[at]
    // A length above 63 marks a pointer, which a question does not have.
    if (length === undefined || length > 63) return undefined
    at += 1
    if (length === 0) break
    labels.push(message.toString('latin1', at, at + length).toLowerCase())
    at += length
  }
  const end = at + 4
  if (message.length < end) return undefined
  return { name: labels.join('.'), isForAddress: message.readUInt16BE(at) === typeA, end }
}

/** The response has the question and at most one address. */
export function writeResponse(message: Buffer, { end }: Query, result: Result): Buffer {
  const response = Buffer.from(message.subarray(0, end))
  const code = result === 'no name' ? nameError : 0
  response.writeUInt16BE(responseFlags | (message.readUInt16BE(2) & recursionDesired) | code, 2)
  const answers = typeof result === 'object' ? 1 : 0
  for (const [index, count] of [1, answers, 0, 0].entries()) response.writeUInt16BE(count, 4 + index * 2)
  return typeof result === 'object' ? Buffer.concat([response, addressRecord(result.address)]) : response
}

function addressRecord(address: string): Buffer {
  const record = Buffer.alloc(16)
  // The name is a pointer to the question.
  record.writeUInt16BE(0xc000 | headerBytes, 0)
  record.writeUInt16BE(typeA, 2)
  record.writeUInt16BE(classIn, 4)
  record.writeUInt32BE(ttlSeconds, 6)
  record.writeUInt16BE(4, 10)
  record.set(address.split('.').map(Number), 12)
  return record
}
