import { describe, expect, it } from '@jest/globals'
import { LiveDeadLetters } from '../../../../src/core/delivery/live-dead-letters.ts'
import type { LogRecord } from '../../../../src/core/ports.ts'
import { recordOf } from '../../../support/builders.ts'

describe('the last record of a key is live, unless it is a tombstone', () => {
  it('distinguishes keys that are not UTF-8', () => {
    const standing = new LiveDeadLetters()
    for (const [offset, byte] of [0xff, 0xfe].entries()) standing.add(recordOf({ offset, key: Buffer.from([byte]) }))
    expect(standing.size).toBe(2)
  })

  it('a record that was written after the read is not live', () => {
    const standing = new LiveDeadLetters()
    const [noted, newer, other] = ['a', 'a', 'b'].map((key, offset) => recordOf({ offset, key: Buffer.from(key) })) as [
      LogRecord,
      LogRecord,
      LogRecord,
    ]
    standing.add(noted)
    expect([noted, newer, other].map(record => standing.has(record))).toEqual([true, false, false])
  })
})
