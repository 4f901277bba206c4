import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import type { LedgerFilter } from '../../../src/core/ledger/ledger-balance-rows.ts'
import type { LedgerView } from '../../../src/core/operator/ledger-query-and-view.ts'
import { epochMs } from '../../../src/core/time.ts'
import { readKey, ScriptedOperatorApi } from '../../support/operator/scripted-deletion-and-audience-api.ts'
import { startOperator } from '../../support/operator/server.ts'

const sums = { admitted: 1, replayed: 0, repeated: 0, delivered: 1, deadLettered: 0, dropped: 0, waiting: 0 }
const view: LedgerView = {
  ...{ at: '2026-01-01T01:00:00.000Z', since: '2026-01-01T00:00:00.000Z', until: '2026-01-01T02:00:00.000Z' },
  totals: { ...sums, difference: 0 },
  rows: [{ hour: '2026-01-01T00:00:00.000Z', destination: 'crm', ...sums, difference: 0 }],
}
const asked: LedgerFilter[] = []
const now = Date.parse('2026-01-01T01:00:00.000Z')
let server: Awaited<ReturnType<typeof startOperator>>

beforeEach(async () => {
  asked.length = 0
  const readLedger = async (filter: LedgerFilter): Promise<LedgerView> => {
    asked.push(filter)
    return view
  }
  const clock = { ...processClock, now: () => epochMs(now) }
  server = await startOperator(new ScriptedOperatorApi(), { readLedger, clock })
})
afterEach(() => server.stop())

const get = (query: string, key = readKey): Promise<Response> =>
  fetch(`${server.url}/v1/ledger${query}`, { headers: { authorization: `Bearer ${key}` } })

describe('GET /v1/ledger', () => {
  it('answers a key with the role read, by default for the last 24 hours', async () => {
    const response = await get('')
    expect([response.status, await response.json()]).toEqual([200, view])
    const [{ since, until, destination } = { since: 0, until: 0, destination: '' }] = asked
    expect([until - since, destination]).toEqual([24, undefined])
  })

  it('includes the hours that contain since and until', async () => {
    await get('?since=2h&until=1h&destination=crm')
    expect(asked).toEqual([expect.objectContaining({ destination: 'crm' })])
    expect((asked[0]?.until ?? 0) - (asked[0]?.since ?? 0)).toBe(2)
  })

  it('begins 23 hours before now when until is in the future', async () => {
    await get(`?until=${new Date(now + 48 * 3_600_000).toISOString()}`)
    expect((asked[0]?.until ?? 0) - (asked[0]?.since ?? 0)).toBe(24 + 48)
  })

  it.each([
    ['?since=yesterday', 'since'],
    ['?since=8d', 'since'],
    ['?since=1h&until=2h', 'since'],
    ['?hours=3', 'hours'],
    ['?destination=', 'destination'],
  ])('refuses %s', async (query, path) => {
    const response = await get(query)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ code: 'invalid_query', problems: [{ path }] })
    expect(asked).toEqual([])
  })

  it('needs a key', async () => {
    expect((await get('', 'wrong')).status).toBe(401)
  })
})
