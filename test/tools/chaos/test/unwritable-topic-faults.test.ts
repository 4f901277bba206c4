import { describe, expect, it } from '@jest/globals'
import { committedPast } from '../unwritable-topic-faults.ts'

const records = [
  { id: 'a', partition: 0, offset: 4 },
  { id: 'b', partition: 0, offset: 5 },
  { id: 'c', partition: 1, offset: 5 },
]

describe('the verdict on records that wait for a topic', () => {
  it.each<
    [name: string, waiting: readonly string[], committed: ReadonlyMap<number, number>, passed: readonly string[]]
  >([
    ['no commit', ['a'], new Map(), []],
    ['a commit before the waiting record', ['a'], new Map([[0, 4]]), []],
    ['a commit past the waiting record', ['a'], new Map([[0, 5]]), ['a']],
    ['a commit past a record that does not wait', ['b'], new Map([[0, 5]]), []],
    [
      'separate offsets per partition',
      ['a', 'b', 'c'],
      new Map([
        [0, 6],
        [1, 5],
      ]),
      ['a', 'b'],
    ],
  ])('%s', (_, waiting, committed, passed) => {
    expect(committedPast(records, new Set(waiting), committed)).toEqual(passed)
  })
})
