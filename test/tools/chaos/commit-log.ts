import type { TopicPartition } from '../../../src/core/ports.ts'

/** The partition of the topic of positions that a group's name falls on: the absolute value of its `String.hashCode`, by their number. */
export function partitionOfGroup(group: string, partitions: number): number {
  const hash = [...group].reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) | 0, 0)
  return Math.abs(hash) % partitions
}

/** What the coordinator of a group has written down of a commit. */
export interface Commit extends TopicPartition {
  readonly group: string
  readonly offset: number
}

/** A record of the topic of positions; undefined: of something else, or a commit that has expired. */
export function commitOf(key: Buffer | null, value: Buffer | null): Commit | undefined {
  // Beside commits (0 and 1) the members of groups are written there.
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

/** Whether the last of them are what is committed: by partition, as its coordinator says. */
export function isWhole(commits: readonly Commit[], committed: ReadonlyMap<number, number>): boolean {
  const last = new Map(commits.map(({ partition, offset }) => [partition, offset]))
  return [...committed].every(([partition, offset]) => last.get(partition) === offset)
}

/**
 * Commits, in the order in which they were made, that went back: what a member that was given up for dead could do. In words.
 * Asked for what is committed, a coordinator that has just taken over shows less than that, until its replicas have caught up.
 */
export function stepsBack(commits: readonly Commit[]): readonly string[] {
  if (commits.length === 0) return ['nothing was ever committed']
  const highest = new Map<number, number>()
  const steps: string[] = []
  for (const { partition, offset } of commits) {
    const before = highest.get(partition) ?? 0
    if (offset < before) steps.push(`the commit of partition ${partition} went back from ${before} to ${offset}`)
    highest.set(partition, offset)
  }
  return steps
}
