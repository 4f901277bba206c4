import { describe, expect, it } from '@jest/globals'
import { committedPast } from '../topic-faults.ts'

const records = [
  { id: 'a', partition: 0, offset: 4 },
  { id: 'b', partition: 0, offset: 5 },
  { id: 'c', partition: 1, offset: 5 },
]

describe('the verdict on records that wait for a topic', () => {
  it.each<
    [name: string, waiting: readonly string[], committed: ReadonlyMap<number, number>, passed: readonly string[]]
  >([
    ['nothing committed', ['a'], new Map(), []],
    ['committed up to it', ['a'], new Map([[0, 4]]), []],
    ['committed with it', ['a'], new Map([[0, 5]]), ['a']],
    ['what does not wait is committed', ['b'], new Map([[0, 5]]), []],
    [
      'each partition has its own offset',
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
