import { expect, it } from '@jest/globals'
import { type Commit, commitOf, isWhole, partitionOfGroup, stepsBack } from '../offset-commits.ts'

const int16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}
const text = (value: string): Buffer => Buffer.concat([int16(Buffer.byteLength(value)), Buffer.from(value)])

function keyOf(version: number, group: string, topic: string, partition: number): Buffer {
  const number = Buffer.alloc(4)
  number.writeInt32BE(partition)
  return Buffer.concat([int16(version), text(group), text(topic), number])
}
function valueWith(offset: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(offset)
  return Buffer.concat([int16(3), bytes, Buffer.from('leader epoch, metadata and times')])
}

const at = (partition: number, offset: number): Commit => ({ group: 'group', topic: 'events', partition, offset })

it.each([0, 1])('reads a commit, key of version %d', version => {
  const read = commitOf(keyOf(version, 'grüppe', 'events', 70_000), valueWith(12_345_678_901n))
  expect(read).toEqual({ group: 'grüppe', topic: 'events', partition: 70_000, offset: 12_345_678_901 })
})

it.each([
  { name: 'a record with the members of a group', key: Buffer.concat([int16(2), text('group')]), value: valueWith(5n) },
  { name: 'an expired commit', key: keyOf(1, 'group', 'events', 0), value: null },
  { name: 'a record without a key', key: null, value: valueWith(5n) },
])('passes over $name', ({ key, value }) => {
  expect(commitOf(key, value)).toBeUndefined()
})

it('reports each commit that steps back, by partition, and the offset after it', () => {
  expect(stepsBack([at(0, 5), at(1, 3), at(0, 5), at(1, 9)])).toEqual([])
  expect(stepsBack([at(0, 5), at(1, 3), at(0, 2), at(0, 4), at(1, 2)])).toEqual([
    'the commit of partition 0 went back from 5 to 2',
    'the commit of partition 1 went back from 3 to 2',
  ])
})

it('fails when there are no commits to judge', () => {
  expect(stepsBack([])).toEqual(['nothing was ever committed'])
})

it.each([
  { name: 'all commits', commits: [at(0, 5), at(1, 3), at(0, 7)], whole: true },
  { name: 'the last commit is missing', commits: [at(0, 5), at(1, 3)], whole: false },
  { name: 'a partition is missing', commits: [at(0, 7)], whole: false },
  { name: 'no commit', commits: [], whole: false },
])('tells whether what was read is whole: $name', ({ commits, whole }) => {
  const committed = new Map([
    [0, 7],
    [1, 3],
  ])
  expect(isWhole(commits, committed)).toBe(whole)
})

it.each([
  { group: 'a', partitions: 50, partition: 47 },
  { group: 'hookline.audiences', partitions: 50, partition: 0 },
  // The hash codes of these names are negative. Kafka uses the absolute value.
  { group: 'hookline.dispatcher', partitions: 50, partition: 44 },
  { group: 'hookline.retries', partitions: 4, partition: 1 },
])('the group $group is coordinated where Kafka says', ({ group, partitions, partition }) => {
  expect(partitionOfGroup(group, partitions)).toBe(partition)
})
