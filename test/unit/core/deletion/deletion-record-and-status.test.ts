import { describe, expect, it } from '@jest/globals'
import {
  type DeletionOutcome,
  type DeletionRecord,
  DeletionTally,
  decodeDeletion,
  deletionKey,
  deletionOutcomeKey,
  encodeDeletion,
  encodeDeletionOutcome,
  encodeDeletionParts,
  mergeDeletionParts,
} from '../../../../src/core/deletion/deletion-record-and-status.ts'
import { start } from '../../../support/builders.ts'

const record: DeletionRecord = {
  id: 'd-1',
  createdAt: start,
  users: 2,
  isSuppressed: true,
  sources: [
    { id: 'web', destinations: ['crm', 'erp'] },
    { id: 'app', destinations: ['crm'] },
  ],
}
const outcome = (
  place: string,
  userId: string,
  result: DeletionOutcome['result'],
  request = 'd-1',
): DeletionOutcome => {
  const [source = '', destination = ''] = place.split('/')
  return { request, source, destination, userId, result, reason: undefined }
}
const statusOf = (outcomes: readonly DeletionOutcome[], of = record) => {
  const tally = new DeletionTally(of)
  for (const each of outcomes) tally.addOutcome(each)
  return tally.status()
}
const shown = (outcomes: readonly DeletionOutcome[], of = record): string => {
  const { status, sources } = statusOf(outcomes, of)
  const rows = sources.flatMap(({ id, destinations }) =>
    destinations.map(each => `${id}/${each.id} ${each.status} ${each.delivered}+${each.undelivered}+${each.waiting}`),
  )
  return [status, ...rows].join(', ')
}
const everywhere = (userId: string, result: DeletionOutcome['result']) =>
  ['web/crm', 'web/erp', 'app/crm'].map(place => outcome(place, userId, result))

describe('the status of a deletion sums all destinations', () => {
  it('has the form of the response', () => {
    expect(statusOf([outcome('app/crm', 'ann', 'delivered'), outcome('app/crm', 'bob', 'undelivered')])).toEqual({
      id: 'd-1',
      status: 'running',
      createdAt: '2026-11-21T08:00:00.000Z',
      sources: [
        {
          id: 'web',
          destinations: [
            { id: 'crm', status: 'running', delivered: 0, undelivered: 0, waiting: 2 },
            { id: 'erp', status: 'running', delivered: 0, undelivered: 0, waiting: 2 },
          ],
        },
        { id: 'app', destinations: [{ id: 'crm', status: 'failed', delivered: 1, undelivered: 1, waiting: 0 }] },
      ],
    })
  })
  it.each<[string, readonly DeletionOutcome[], string]>([
    ['all delivered', [...everywhere('ann', 'delivered'), ...everywhere('bob', 'delivered')], 'finished'],
    [
      'one was not delivered',
      [...everywhere('ann', 'delivered'), ...everywhere('bob', 'delivered'), outcome('web/erp', 'bob', 'undelivered')],
      'failed',
    ],
    [
      'a dead letter was replayed',
      [...everywhere('ann', 'undelivered'), ...everywhere('ann', 'delivered'), ...everywhere('bob', 'delivered')],
      'finished',
    ],
    ['one not reported', [...everywhere('ann', 'undelivered'), ...everywhere('bob', 'delivered').slice(1)], 'running'],
    ['the same report twice', [...everywhere('ann', 'delivered'), ...everywhere('ann', 'delivered')], 'running'],
    [
      'reports of another deletion',
      [...everywhere('ann', 'delivered'), ...everywhere('bob', 'delivered').map(each => ({ ...each, request: 'd-2' }))],
      'running',
    ],
  ])('%s', (_reason, outcomes, status) => {
    expect(statusOf(outcomes).status).toBe(status)
  })
  it('is finished when there is no destination to notify', () => {
    expect(shown([], { ...record, sources: [{ id: 'tv', destinations: [] }] })).toBe('finished')
  })
  it('distinguishes destination b.c of source a from destination c of source a.b', () => {
    const sources = [
      { id: 'a', destinations: ['b.c'] },
      { id: 'a.b', destinations: ['c'] },
    ]
    expect(shown([outcome('a/b.c', 'ann', 'delivered')], { ...record, users: 1, sources })).toBe(
      'running, a/b.c finished 1+0+0, a.b/c running 0+0+1',
    )
  })
})

describe('on the topic', () => {
  it('a deletion is found by its id', () => {
    expect(decodeDeletion(deletionKey('d-1'), encodeDeletion(record))).toEqual({
      ...{ kind: 'request', record, part: 1, parts: 1 },
    })
  })
  it('a deletion with many destinations has several records, each of less than 500 KB', () => {
    const idOf = (number: number): string => String(number).padEnd(63, 'x')
    const many = {
      ...record,
      sources: [
        { id: 'idle', destinations: [] },
        ...['web', 'app', 'tv'].map(id => ({ id, destinations: Array.from({ length: 10_000 }, (_, n) => idOf(n)) })),
        ...Array.from({ length: 6_000 }, (_, n) => ({ id: idOf(n), destinations: [idOf(n)] })),
      ],
    }
    const encoded = encodeDeletionParts(many)
    expect(encoded.map(({ key }) => key).slice(0, 2)).toEqual(['["d-1"]', '["d-1","2"]'])
    expect(Math.max(...encoded.map(({ value }) => Buffer.byteLength(value)))).toBeLessThan(500_000)
    const entries = encoded.map(({ key, value }) => decodeDeletion(key, value))
    expect(entries).toMatchObject(encoded.map((_, index) => ({ part: index + 1, parts: encoded.length })))
    const [first = record, ...others] = entries.flatMap(entry => (entry?.kind === 'request' ? [entry.record] : []))
    expect(mergeDeletionParts([first, ...others])).toEqual(many)
  })
  it.each<[string, DeletionOutcome]>([
    ['delivered', outcome('web/crm', 'ann', 'delivered')],
    ['undelivered', { ...outcome('web/crm', 'a"n', 'undelivered'), reason: 'retries_exhausted' }],
  ])('an outcome: %s', (_name, given) => {
    const entry = decodeDeletion(deletionOutcomeKey(given), encodeDeletionOutcome(given))
    expect(entry).toEqual({ kind: 'outcome', outcome: given })
  })
  it.each([
    ['x', '{}'],
    ['[]', '{}'],
    ['{}', '{}'],
    ['["d-1"]', 'x'],
    ['["d-1"]', '{"createdAt":1,"users":"2","sources":[]}'],
    ['["d-1"]', '{"createdAt":1,"users":2,"sources":[{"id":"web"}]}'],
    ['["d-1"]', '{"createdAt":1,"users":2,"sources":[{"id":"web","destinations":[1]}]}'],
    ['["d-1","web"]', '{"result":"delivered"}'],
    ['["d-1","x"]', '{"createdAt":1,"users":2,"sources":[],"parts":2}'],
    ['["d-1"]', '{"createdAt":1,"users":2,"sources":[],"parts":"2"}'],
    ['["d-1","web","crm",7]', '{"result":"delivered"}'],
    ['["d-1","web","crm","ann"]', '{"result":"lost"}'],
    ['["d-1","web","crm","ann","x"]', '{"result":"delivered"}'],
  ])('%s: %s is not a record of a deletion', (key, value) => {
    expect(decodeDeletion(key, value)).toBeUndefined()
  })
})
