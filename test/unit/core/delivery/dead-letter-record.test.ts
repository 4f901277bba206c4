import { describe, expect, it } from '@jest/globals'
import { deadLetterRecord, truncatedDeadLetter } from '../../../../src/core/delivery/dead-letter-record.ts'
import { parseDeadLetter } from '../../../../src/core/delivery/parse-dead-letter.ts'
import { replayTargetOf } from '../../../../src/core/delivery/replay-decision.ts'
import { createRouting } from '../../../../src/core/delivery/route.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { topicNames } from '../../../../src/core/topics.ts'
import { carriedOf, defaultPolicy, destinationOf, recordOf, sourceOf, start } from '../../../support/builders.ts'

describe('a truncated dead letter', () => {
  it('has a maximum size, for any record', () => {
    const long = 'x'.repeat(500_000)
    const record = recordOf({ key: Buffer.from(long), value: Buffer.alloc(5_000_000), headers: { other: long } })
    const known = { destination: long, messageId: long, firstTrace: long }
    const { key, value, headers } = truncatedDeadLetter(record, known, 'unknown_destination')
    expect(value).toHaveLength(64 * 1024)
    expect((key?.length ?? 0) + JSON.stringify(headers).length).toBeLessThan(8_000)
    expect(headers).toMatchObject({ 'original-length': '5000000', 'origin-offset': '41' })
  })

  it('is not replayed from its truncated value', () => {
    const record = truncatedDeadLetter(recordOf({ value: Buffer.alloc(100_000) }), carriedOf(), 'retries_exhausted')
    const stored = recordOf({ ...record, topic: 'hookline.dead-letter' })
    const context = {
      topics: topicNames('hookline'),
      routing: createRouting({ sources: [sourceOf('web')], destinations: [destinationOf()] }),
      policy: defaultPolicy,
    }
    expect(replayTargetOf(stored, parseDeadLetter(stored), context, start)).toEqual({
      kind: 'refused',
      reason: 'truncated',
    })
  })
})

it('the key differs when the events topic was created again', () => {
  const [before, after] = [start, epochMs(start + 86_400_000)].map(timestamp =>
    deadLetterRecord(recordOf({ offset: 0, timestamp }), undefined, 'undecodable').key?.toString(),
  )
  expect(before).not.toBe(after)
  expect(deadLetterRecord(recordOf({ offset: 0 }), undefined, 'undecodable').key?.toString()).toBe(before)
})
