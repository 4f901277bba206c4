import { describe, expect, it } from '@jest/globals'
import { EventTally, type Script } from '../receiver/event-tally.ts'

describe('the counts of the bench receiver', () => {
  const script: Script = {
    first: 10,
    count: 4,
    delayMs: 0,
    passesOneIn: 0,
    isDead: false,
    marks: [1, 3],
    keepsLog: true,
  }
  const deliver = (counts: EventTally, ...numbers: (number | undefined)[]) =>
    numbers.map((number, index) => (counts.arrived(number) ? counts.succeeded(number, index, `/${index}`) : 'refused'))

  it('counts each event once, reports marks, and separates duplicates from unknown requests', () => {
    const counts = new EventTally(script)
    expect(deliver(counts, 10, 10, 9, 14, undefined, 12, 11)).toEqual([
      ...[1, undefined, undefined, undefined, undefined, undefined, 3],
    ])
    expect(counts.tally()).toEqual({
      delivered: 3,
      duplicates: 1,
      foreign: 3,
      refused: 0,
      log: { numbers: [10, 10, 12, 11], times: [0, 1, 5, 6], paths: ['/0', '/1', '/5', '/6'] },
    })
  })

  it('refuses all but one in n of the second half, and only the first time', () => {
    const counts = new EventTally({ ...script, passesOneIn: 2 })
    expect(deliver(counts, 10, 11, 12, 13, 13)).toEqual([1, undefined, 3, 'refused', undefined])
    expect(counts.tally()).toMatchObject({ delivered: 4, refused: 1, duplicates: 0 })
  })
})
