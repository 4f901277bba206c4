import { describe, expect, it } from '@jest/globals'
import { assignPartitions } from '../../../../../src/adapters/kafka/group/assign-partitions.ts'

const parse = (text: string) =>
  text
    .split(' ')
    .filter(Boolean)
    .map(each => ({ topic: each[0] as string, partition: Number(each.slice(1)) }))
const name = ({ topic, partition }: { topic: string; partition: number }): string => `${topic}${partition}`

/**
 * Assigns partitions; `a0` is partition 0 of topic `a`. Results are `member: partitions (excess
 * ones)`. A member must revoke its excess partitions.
 */
function assignmentsOf(claims: Record<string, string>, all: string, topics: Record<string, string[]> = {}): string[] {
  const members = Object.entries(claims).map(([memberId, owned]) => ({
    memberId,
    topics: topics[memberId] ?? ['a', 'b'],
    owned: parse(owned),
  }))
  return assignPartitions(members, parse(all)).map(({ memberId, partitions, excess }) => {
    const excessText = excess.length === 0 ? '' : ` (${excess.map(name).join(' ')})`
    return `${memberId}: ${partitions.map(name).join(' ')}${excessText}`
  })
}

describe('assignPartitions', () => {
  it.each<[string, Record<string, string>, string, string[]]>([
    ['free partitions go in turn', { y: '', x: '' }, 'a0 a1 a2', ['x: a0 a2', 'y: a1']],
    [
      'a free partition goes to the member with the fewest',
      { x: 'a0 a1', y: 'a2' },
      'a0 a1 a2 a3',
      ['x: a0 a1', 'y: a2 a3'],
    ],
    [
      'an excess partition stays with its owner until it is revoked',
      { x: 'a0 a1 a2 a3', y: '' },
      'a0 a1 a2 a3',
      ['x: a0 a1 a2 a3 (a2 a3)', 'y: '],
    ],
    ['a difference of one partition is balanced', { x: 'a0 a1', y: 'a2' }, 'a0 a1 a2', ['x: a0 a1', 'y: a2']],
    [
      'a partition of the topic in which the members differ most moves',
      { x: 'a0 a1 a2 b0', y: 'b1 b2' },
      'a0 a1 a2 b0 b1 b2',
      ['x: a0 b0 a1 a2 (a2)', 'y: b1 b2'],
    ],
    ['a partition that two members claim has no owner', { x: 'a0 a1', y: 'a1' }, 'a0 a1', ['x: a0', 'y: a1']],
    ['owned partitions that do not exist are ignored', { x: 'a0 a9', y: '' }, 'a0 a1', ['x: a0', 'y: a1']],
  ])('%s', (_, claims, all, expected) => {
    expect(assignmentsOf(claims, all)).toEqual(expected)
  })

  it('assigns a topic only to its subscribers', () => {
    const topics = { x: ['a'], y: ['a', 'b'] }
    expect(assignmentsOf({ x: '', y: '' }, 'a0 a1 b0 b1 c0', topics)).toEqual(['x: a0 a1', 'y: b0 b1'])
    expect(assignmentsOf({ x: 'b0', y: '' }, 'b0', topics)).toEqual(['x: ', 'y: b0'])
  })
})
