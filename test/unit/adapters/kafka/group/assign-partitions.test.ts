import { describe, expect, it } from '@jest/globals'
import { assignPartitions } from '../../../../../src/adapters/kafka/group/assign-partitions.ts'

const parse = (text: string) =>
  text
    .split(' ')
    .filter(Boolean)
    .map(each => ({ topic: each[0] as string, partition: Number(each.slice(1)) }))
const name = ({ topic, partition }: { topic: string; partition: number }): string => `${topic}${partition}`

/** `claims`: member → what it has. OwnedPartitions are written `<topic><number>`; the shares `member: what it has (what of it it gives up)`. */
function shares(claims: Record<string, string>, all: string, topics: Record<string, string[]> = {}): string[] {
  const members = Object.entries(claims).map(([memberId, owned]) => ({
    memberId,
    topics: topics[memberId] ?? ['a', 'b'],
    owned: parse(owned),
  }))
  return assignPartitions(members, parse(all)).map(({ memberId, partitions, excess }) => {
    const given = excess.length === 0 ? '' : ` (${excess.map(name).join(' ')})`
    return `${memberId}: ${partitions.map(name).join(' ')}${given}`
  })
}

describe('assignPartitions', () => {
  it.each([
    { name: 'alone: all', claims: { x: '' }, all: 'a0 a1', expected: ['x: a0 a1'] },
    { name: 'nobody has any: in turn', claims: { y: '', x: '' }, all: 'a0 a1 a2', expected: ['x: a0 a2', 'y: a1'] },
    { name: 'more members than partitions', claims: { x: '', y: '' }, all: 'a0', expected: ['x: a0', 'y: '] },
    { name: 'what is fair stays', claims: { x: 'a1', y: 'a0' }, all: 'a0 a1', expected: ['x: a1', 'y: a0'] },
    {
      name: 'what somebody left goes to who has least',
      claims: { x: 'a0 a1', y: 'a2' },
      all: 'a0 a1 a2 a3',
      expected: ['x: a0 a1', 'y: a2 a3'],
    },
    {
      name: 'excess is named and stays until it is given up',
      claims: { x: 'a0 a1 a2 a3', y: '' },
      all: 'a0 a1 a2 a3',
      expected: ['x: a0 a1 a2 a3 (a2 a3)', 'y: '],
    },
    {
      name: 'one more is no excess',
      claims: { x: 'a0 a1', y: 'a2' },
      all: 'a0 a1 a2',
      expected: ['x: a0 a1', 'y: a2'],
    },
    {
      name: 'the topic in which they differ most gives',
      claims: { x: 'a0 a1 a2 b0', y: 'b1 b2' },
      all: 'a0 a1 a2 b0 b1 b2',
      expected: ['x: a0 b0 a1 a2 (a2)', 'y: b1 b2'],
    },
    {
      name: 'what two claim is nobody’s',
      claims: { x: 'a0 a1', y: 'a1' },
      all: 'a0 a1',
      expected: ['x: a0', 'y: a1'],
    },
    {
      name: 'what does not exist is nobody’s',
      claims: { x: 'a0 a9', y: '' },
      all: 'a0 a1',
      expected: ['x: a0', 'y: a1'],
    },
  ])('$name', ({ claims, all, expected }) => {
    expect(shares(claims as unknown as Record<string, string>, all)).toEqual(expected)
  })

  it('assigns a topic only to its subscribers', () => {
    const topics = { x: ['a'], y: ['a', 'b'] }
    expect(shares({ x: '', y: '' }, 'a0 a1 b0 b1 c0', topics)).toEqual(['x: a0 a1', 'y: b0 b1'])
    expect(shares({ x: 'b0', y: '' }, 'b0', topics)).toEqual(['x: ', 'y: b0'])
  })
})
