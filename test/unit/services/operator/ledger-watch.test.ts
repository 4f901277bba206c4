import { describe, expect, it } from '@jest/globals'
import type { LedgerFilter } from '../../../../src/core/ledger/ledger-balance-rows.ts'
import { hourMs, hourOf } from '../../../../src/core/ledger/ledger-counts.ts'
import type { LedgerView } from '../../../../src/core/operator/ledger-query-and-view.ts'
import { createLedgerWatch } from '../../../../src/services/operator/ledger-watch.ts'
import { ManualClock, turns } from '../../../support/manual-clock.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'

const clockStart = new ManualClock().now()
const thisHour = hourOf(clockStart)
const isoHour = (hour: number): string => new Date(hour * hourMs).toISOString()

const counts = { admitted: 9, replayed: 0, repeated: 0, delivered: 7, deadLettered: 0, dropped: 0, waiting: 0 }
const viewWith = (difference: number | undefined, more: Partial<LedgerView> = {}): LedgerView => ({
  at: isoHour(thisHour),
  since: isoHour(thisHour - 23),
  until: isoHour(thisHour + 1),
  totals: { ...counts, difference },
  rows: [{ hour: isoHour(thisHour), destination: 'crm', ...counts, difference }],
  ...more,
})

/** The watch reads the ledger once for each of `views`. An error in `views` makes a read fail. */
async function watched(views: readonly (LedgerView | Error)[]) {
  const clock = new ManualClock()
  const logger = new RecordingLogger()
  const set: number[] = []
  const readAt: number[] = []
  const filters: LedgerFilter[] = []
  const left = [...views]
  const watch = createLedgerWatch({
    clock,
    logger,
    metrics: {
      ledgerDifference: gauge(value => set.push(value)),
      ledgerReadAt: gauge(value => readAt.push(value * 1_000 - clockStart)),
    },
    async readLedger(filter) {
      filters.push(filter)
      const next = left.shift() ?? viewWith(0)
      if (next instanceof Error) throw next
      return next
    },
  })
  watch.start()
  await clock.advance(5_000, turns)
  while (left.length > 0) await clock.advance(300_000, turns)
  watch.stop()
  expect(clock.timers).toBe(0)
  return { set, readAt, filters, lines: logger.lines.map(({ level, fields }) => ({ level, fields })) }
}

const gauge = (set: (value: number) => void) => ({
  set: (_: object, value: number) => set(value),
  reset() {},
})

it('logs a difference when it appears and when it changes, with its rows', async () => {
  const { set, lines } = await watched([viewWith(0), viewWith(2), viewWith(2), viewWith(3), viewWith(0), viewWith(3)])
  expect(set).toEqual([0, 2, 2, 3, 0, 3])
  const line = (difference: number) => ({
    level: 'error',
    fields: { difference, rows: [{ hour: isoHour(thisHour), destination: 'crm', difference }] },
  })
  expect(lines).toEqual([line(2), line(3), line(3)])
})

it('logs at most 100 rows', async () => {
  const [row] = viewWith(1).rows
  const rows = Array.from({ length: 101 }, (_, index) => ({ ...row, destination: `d-${index}` })) as LedgerView['rows']
  const { lines } = await watched([viewWith(101, { rows })])
  const logged = lines[0]?.fields['rows'] as LedgerView['rows']
  expect(logged.map(({ destination }) => destination)).toEqual(Array.from({ length: 100 }, (_, index) => `d-${index}`))
})

it('keeps the last difference and its time when the ledger cannot be read or is partial', async () => {
  const { set, readAt, lines } = await watched([viewWith(2), new Error('no broker'), viewWith(undefined), viewWith(2)])
  expect(set).toEqual([2, 2])
  // The first value is the time of the start. The failed and the partial reading set no value.
  expect(readAt).toEqual([0, 5_000, 905_000])
  expect(lines.map(({ level }) => level)).toEqual(['error', 'warn', 'warn'])
})

it('reads only the complete hours of a new installation', async () => {
  const { set, filters } = await watched([viewWith(undefined, { exactSince: isoHour(thisHour - 2) }), viewWith(0)])
  expect(set).toEqual([0])
  expect(filters).toEqual([
    { since: thisHour - 23, until: thisHour + 1 },
    { since: thisHour - 2, until: thisHour + 1 },
  ])
})

it('sets no metric while no hour is complete, so that lost deliveries stay reported', async () => {
  const blind = viewWith(undefined, { exactSince: isoHour(thisHour + 1) })
  const { set, readAt, filters, lines } = await watched([viewWith(7), blind, blind])
  expect(set).toEqual([7])
  expect(readAt).toEqual([0, 5_000])
  expect(filters).toHaveLength(3)
  expect(lines.slice(1)).toEqual(
    Array.from({ length: 2 }, () => ({ level: 'warn', fields: { exactSince: isoHour(thisHour + 1) } })),
  )
})

describe('a difference in an hour whose counts have become incomplete', () => {
  const lostIn = (hour: number) => {
    const row = { hour: isoHour(hour), destination: 'crm', ...counts, difference: 7 }
    return viewWith(7, { rows: [row] })
  }
  const onlyThisHour = (difference: number) => {
    const since = isoHour(thisHour)
    return [viewWith(undefined, { exactSince: since }), viewWith(difference, { since })]
  }

  it('is reported until the hour is 24 hours old', async () => {
    const { set, lines } = await watched([lostIn(thisHour - 23), ...onlyThisHour(0), ...onlyThisHour(2)])
    expect(set).toEqual([7, 7, 9])
    const kept = { hour: isoHour(thisHour - 23), destination: 'crm', difference: 7 }
    expect(lines.map(({ fields }) => fields)).toEqual([
      { difference: 7, rows: [kept] },
      { difference: 9, rows: [kept, { hour: isoHour(thisHour), destination: 'crm', difference: 2 }] },
    ])
  })

  it('is no longer reported then', async () => {
    expect((await watched([lostIn(thisHour - 24), ...onlyThisHour(0)])).set).toEqual([7, 0])
  })

  it('is no longer reported when the counts of a complete reading balance', async () => {
    expect((await watched([lostIn(thisHour), ...onlyThisHour(0)])).set).toEqual([7, 0])
  })
})
