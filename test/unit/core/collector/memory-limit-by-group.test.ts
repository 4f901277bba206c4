import { describe, expect, it } from '@jest/globals'
import { SharedMemory } from '../../../../src/core/collector/memory-limit-by-group.ts'

/** Parses `a:60`, the group and its bytes. */
const groupOf = (text: string): [group: string, bytes: number] => {
  const [group = '', bytes] = text.split(':')
  return [group, Number(bytes)]
}

describe('a shared memory of 100 bytes', () => {
  it.each<[string, held: string, taken: string, own: number, expected: boolean]>([
    ['one group may hold three quarters', 'a:70', 'a:5', 0, true],
    ['but not more', 'a:70', 'a:6', 0, false],
    ['another group gets memory beside it', 'a:75', 'b:18', 0, true],
    ['but not all of the rest', 'a:75', 'b:19', 0, false],
    ['a third group gets memory beside both', 'a:75 b:18', 'c:5', 0, true],
    ['a caller alone may exceed the limit', '', 'a:1000', 0, true],
    ['also when it already holds all taken bytes', 'a:1000', 'a:1', 1_000, true],
    ['others get nothing beside it', 'a:1000', 'b:1', 0, false],
    ['nor another caller of the same group', 'a:1000', 'a:1', 0, false],
  ])('%s', (_, held, taken, own, expected) => {
    const memory = new SharedMemory(100)
    for (const each of held.split(' ').filter(Boolean)) memory.take(...groupOf(each), memory.held)
    const before = memory.held
    const [group, bytes] = groupOf(taken)
    expect(memory.take(group, bytes, own)).toBe(expected)
    expect(memory.held).toBe(before + (expected ? bytes : 0))
    if (expected) memory.giveBack(group, bytes)
    expect(memory.held).toBe(before)
  })
})
