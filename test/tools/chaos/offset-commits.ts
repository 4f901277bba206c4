import type { TopicPartition } from '../../../src/core/ports.ts'

/**
 * Partition of `__consumer_offsets` for a group: the absolute value of Java's `String.hashCode` of
 * its name, modulo the partitions.
 */
export function partitionOfGroup(group: string, partitions: number): number {
  const hash = [...group].reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) | 0, 0)
  return Math.abs(hash) % partitions
}

export interface Commit extends TopicPartition {
  readonly group: string
  readonly offset: number
}

/**
 * Decodes a record of `__consumer_offsets`. Undefined for other records and for expired commits.
 */
export function commitOf(key: Buffer | null, value: Buffer | null): Commit | undefined {
  // Keys with version 0 or 1 are commits. Keys with other versions are metadata of groups.
  if (key === null || value === null || key.readInt16BE(0) > 1) return undefined
  const group = textAt(key, 2)
  const topic = textAt(key, group.end)
  const offset = Number(value.readBigInt64BE(2))
  return { group: group.text, topic: topic.text, partition: key.readInt32BE(topic.end), offset }
}

function textAt(from: Buffer, at: number): { readonly text: string; readonly end: number } {
  const end = at + 2 + from.readInt16BE(at)
  return { text: from.toString('utf8', at + 2, end), end }
}

/** Whether the last commit of each partition matches the offsets that the coordinator reports. */
export function isWhole(commits: readonly Commit[], committed: ReadonlyMap<number, number>): boolean {
  const last = new Map(commits.map(({ partition, offset }) => [partition, offset]))
  return [...committed].every(([partition, offset]) => last.get(partition) === offset)
}

/**
 * Describes each commit with a lower offset than the previous one of its partition. `commits` must
 * be in log order.
 */
export function stepsBack(commits: readonly Commit[]): readonly string[] {
  if (commits.length === 0) return ['nothing was ever committed']
  const previous = new Map<number, number>()
  const steps: string[] = []
  for (const { partition, offset } of commits) {
    const before = previous.get(partition) ?? 0
    if (offset < before) steps.push(`the commit of partition ${partition} went back from ${before} to ${offset}`)
    previous.set(partition, offset)
  }
  return steps
}
