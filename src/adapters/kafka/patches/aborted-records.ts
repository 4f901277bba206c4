import { type Broker, type FetchedMessage, type FetchedPartition, internal } from '../internals.ts'

/** What follows the version in the key of a marker: 0 aborted, 1 committed. */
const abortType = 0

/**
 * kafkajs takes the aborted transactions of a fetch in the order in which the broker lists them, that of their ends, but needs that of their
 * beginnings: where the transactions of two producers interleave, it shows records of an aborted one. They are taken out here before it looks.
 */
export function cureAbortedRecords(): void {
  const { prototype } = internal<{ prototype: Broker }>('broker')
  const fetch = prototype.fetch
  prototype.fetch = async function (this: Broker, request) {
    const answer = await fetch.call(this, request)
    for (const { partitions } of answer.responses) for (const partition of partitions) takeOut(partition)
    return answer
  }
}

function takeOut(partition: FetchedPartition): void {
  const { abortedTransactions = [] } = partition
  if (abortedTransactions.length === 0) return
  partition.messages = withoutAborted(partition.messages, abortedTransactions)
  partition.abortedTransactions = []
}

/** Markers stay: they carry the position. */
export function withoutAborted(
  messages: readonly FetchedMessage[],
  transactions: readonly { readonly producerId: string; readonly firstOffset: string }[],
): FetchedMessage[] {
  const waiting = transactions
    .map(({ producerId, firstOffset }) => ({ producerId, firstOffset: Number(firstOffset) }))
    .sort((a, b) => b.firstOffset - a.firstOffset)
  const open = new Set<string>()
  return messages.filter(({ offset, key, isControlRecord, batchContext }) => {
    while (waiting.length > 0 && (waiting.at(-1)?.firstOffset as number) <= Number(offset))
      open.add(waiting.pop()?.producerId as string)
    if (batchContext === undefined) return true
    if (isControlRecord === true) {
      if (key?.readInt16BE(2) === abortType) open.delete(batchContext.producerId)
      return true
    }
    return !(batchContext.inTransaction && open.has(batchContext.producerId))
  })
}
