import { describe, expect, it } from '@jest/globals'
import {
  allowLaterEvents,
  decodeSuppressions,
  encodeSuppressions,
  mergeSuppressions,
  type Suppression,
  SuppressionIndex,
  stoppedBy,
  unexpiredSuppressions,
} from '../../../../src/core/deletion/suppressions.ts'
import { durationMs, type EpochMs, epochMs } from '../../../../src/core/time.ts'
import { start } from '../../../support/builders.ts'

const retention = durationMs(96 * 3_600_000)
const hoursAfter = (hours: number): EpochMs => epochMs(start + hours * 3_600_000)
const mark = (given: Partial<Suppression> = {}): Suppression => ({
  source: undefined,
  deletedAt: start,
  isSuppressed: false,
  ...given,
})
const event = { userId: 'ann', sourceId: 'web' }

describe('whether a deletion stops an event', () => {
  it.each<[string, readonly Suppression[], EpochMs, string, string | undefined]>([
    ['received before', [mark()], hoursAfter(-1), 'web', 'user_deleted'],
    ['received in the same millisecond', [mark()], start, 'web', 'user_deleted'],
    ['received later', [mark()], epochMs(start + 1), 'web', undefined],
    ['received later, suppressed', [mark({ isSuppressed: true })], hoursAfter(1), 'web', 'suppressed'],
    ['received before, suppressed', [mark({ isSuppressed: true })], hoursAfter(-1), 'web', 'user_deleted'],
    ['of another source', [mark({ source: 'app', isSuppressed: true })], hoursAfter(-1), 'web', undefined],
    ['of this source', [mark({ source: 'app' }), mark({ source: 'web' })], hoursAfter(-1), 'web', 'user_deleted'],
    [
      'the newest deletion of several',
      [mark({ source: 'web', deletedAt: hoursAfter(-5) }), mark()],
      hoursAfter(-1),
      'web',
      'user_deleted',
    ],
    ['no deletion', [], hoursAfter(-1), 'web', undefined],
  ])('%s', (_reason, marks, receivedAt, sourceId, expected) => {
    expect(stoppedBy(marks, { ...event, sourceId, receivedAt }, hoursAfter(2), retention)).toBe(expected)
  })

  it('never stop the delete itself', () => {
    const marks = [mark({ isSuppressed: true })]
    expect(stoppedBy(marks, { ...event, receivedAt: start, type: 'delete' }, start, retention)).toBeUndefined()
    expect(stoppedBy(marks, { ...event, receivedAt: start, type: 'identify' }, start, retention)).toBe('user_deleted')
  })
})

describe('entries without suppression expire when no event received before them can still be delivered', () => {
  it.each<[number, boolean, string | undefined]>([
    [96, false, 'user_deleted'],
    [96.001, false, undefined],
    [96.001, true, 'user_deleted'],
  ])('%d h, suppressed %s: %s', (hours, isSuppressed, expected) => {
    expect(
      stoppedBy([mark({ isSuppressed })], { ...event, receivedAt: hoursAfter(-1) }, hoursAfter(hours), retention),
    ).toBe(expected)
  })
  it('keeps the remaining entries', () => {
    const marks = [mark({ source: 'web' }), mark({ source: 'app', isSuppressed: true })]
    expect(unexpiredSuppressions(marks, hoursAfter(97), retention)).toEqual([marks[1]])
    expect(unexpiredSuppressions([mark()], hoursAfter(97), retention)).toBeUndefined()
  })
})

describe('another deletion of the same user', () => {
  it('has the later time, and keeps an earlier suppression', () => {
    expect(mergeSuppressions([mark({ isSuppressed: true })], [mark({ deletedAt: hoursAfter(1) })])).toEqual([
      mark({ deletedAt: hoursAfter(1), isSuppressed: true }),
    ])
    expect(mergeSuppressions([mark({ deletedAt: hoursAfter(1) })], [mark({ isSuppressed: true })])).toEqual([
      mark({ deletedAt: hoursAfter(1), isSuppressed: true }),
    ])
  })
  it('is separate for each source', () => {
    expect(mergeSuppressions([mark({ source: 'web' })], [mark({ source: 'app' })])).toEqual([
      mark({ source: 'web' }),
      mark({ source: 'app' }),
    ])
  })
  it('may be the first one', () => {
    expect(mergeSuppressions(undefined, [mark()])).toEqual([mark()])
  })
})

describe('a suppression that is lifted', () => {
  it('leaves the deletion', () => {
    expect(allowLaterEvents([mark({ isSuppressed: true })])).toEqual([mark()])
  })
})

describe('the suppressions of all users', () => {
  it('are the last record of each user', () => {
    const index = new SuppressionIndex(retention)
    index.apply('ann', [mark()])
    index.apply('bob', [mark({ isSuppressed: true })])
    index.apply('ann', undefined)
    expect(index.size).toBe(1)
    expect(index.get('bob')).toEqual([mark({ isSuppressed: true })])
    expect(index.stops({ ...event, receivedAt: start }, hoursAfter(1))).toBeUndefined()
    expect(index.stops({ ...event, userId: 'bob', receivedAt: start }, hoursAfter(1))).toBe('user_deleted')
    expect(index.stops({ ...event, userId: undefined, receivedAt: start }, hoursAfter(1))).toBeUndefined()
  })
  it('list the users with expired entries', () => {
    const index = new SuppressionIndex(retention)
    index.apply('ann', [mark()])
    index.apply('bob', [mark({ source: 'web' }), mark({ source: 'app', isSuppressed: true })])
    index.apply('cem', [mark({ isSuppressed: true })])
    expect([...index.outdated(hoursAfter(96))]).toEqual([])
    expect([...index.outdated(hoursAfter(97))]).toEqual(['ann', 'bob'])
    expect(index.unexpired(index.get('bob') ?? [], hoursAfter(97))).toEqual([
      mark({ source: 'app', isSuppressed: true }),
    ])
  })

  describe('records of two concurrent writers', () => {
    const suppressed = [mark({ isSuppressed: true })]
    const later = [mark({ deletedAt: hoursAfter(1) })]
    const both = [mark({ deletedAt: hoursAfter(1), isSuppressed: true })]
    it.each<
      [string, readonly Suppression[] | undefined, number | undefined, readonly Suppression[], readonly string[]]
    >([
      ['are merged, and the user is outdated', later, -1, both, ['ann']],
      ['a concurrent tombstone removes nothing', undefined, -1, suppressed, ['ann']],
      ['the last one alone, when it is based on the one before', later, 5, later, []],
      ['the last one alone, when its base is unknown', later, undefined, later, []],
    ])('%s', (_reason, marks, basedOnOffset, expected, outdated) => {
      const index = new SuppressionIndex(retention)
      index.apply('ann', suppressed, 5, -1)
      index.apply('ann', marks, 6, basedOnOffset)
      expect([index.get('ann'), [...index.outdated(start)]]).toEqual([expected, outdated])
    })
    it('the correction alone counts, because it is based on the current record', () => {
      const index = new SuppressionIndex(retention)
      index.apply('ann', suppressed, 5, -1)
      index.apply('ann', later, 6, -1)
      index.apply('ann', [mark()], 7, 6)
      expect([index.get('ann'), index.offsetOf('ann'), [...index.outdated(start)]]).toEqual([[mark()], 7, []])
    })
    it('a further record of a writer that did not know the last one is merged too', () => {
      const index = new SuppressionIndex(retention)
      index.apply('ann', [mark()], 5, -1)
      index.apply('ann', suppressed, 6, -1)
      index.apply('ann', later, 7, 5)
      expect([index.get('ann'), [...index.outdated(start)]]).toEqual([both, ['ann']])
    })
    it('the correction alone counts when compaction has removed the first of the two records', () => {
      const [before, after] = [new SuppressionIndex(retention), new SuppressionIndex(retention)]
      before.apply('ann', suppressed, 5, -1)
      for (const index of [before, after]) index.apply('ann', later, 6, -1)
      const basedOnOffset = before.offsetOf('ann')
      for (const index of [before, after]) {
        index.apply('ann', both, 7, basedOnOffset)
        expect([index.get('ann'), index.offsetOf('ann'), [...index.outdated(start)]]).toEqual([both, 7, []])
      }
    })
    it('a record whose base is unknown counts', () => {
      const index = new SuppressionIndex(retention)
      index.apply('ann', later, 6, 5)
      expect([index.get('ann'), [...index.outdated(start)]]).toEqual([later, []])
    })
  })
})

describe('on the topic', () => {
  it('they are JSON', () => {
    const marks = [mark(), mark({ source: 'web', isSuppressed: true })]
    expect(encodeSuppressions(marks)).toBe(
      `{"marks":[{"deletedAt":${start},"suppressed":false},{"source":"web","deletedAt":${start},"suppressed":true}]}`,
    )
    expect(decodeSuppressions(encodeSuppressions(marks))).toEqual(marks)
  })
  it.each([
    'x',
    '[]',
    '{}',
    '{"marks":{}}',
    '{"marks":[1]}',
    '{"marks":[{"deletedAt":1}]}',
    '{"marks":[{"deletedAt":"1","suppressed":true}]}',
    '{"marks":[{"source":1,"deletedAt":1,"suppressed":true}]}',
  ])('%s is not a record of suppressions', text => {
    expect(decodeSuppressions(text)).toBeUndefined()
  })
})
