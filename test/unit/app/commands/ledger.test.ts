import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { LedgerFilter } from '../../../../src/core/ledger/ledger-balance-rows.ts'
import type { LedgerView } from '../../../../src/core/operator/ledger-query-and-view.ts'
import { objectsCommand } from '../../../support/operator/run-operator-api-commands.ts'

const counts = {
  ...{ admitted: 1000, replayed: 2, repeated: 1, delivered: 990, deadLettered: 3, dropped: 4, waiting: 6 },
  difference: 0,
}
const balanced: LedgerView = {
  ...{ at: '2026-03-01T10:20:00.000Z', since: '2026-03-01T10:00:00.000Z', until: '2026-03-01T11:00:00.000Z' },
  totals: counts,
  rows: [{ hour: '2026-03-01T10:00:00.000Z', destination: 'crm', ...counts }],
}
let view = balanced
const asked: LedgerFilter[] = []
let installation: Awaited<ReturnType<typeof objectsCommand>>
beforeAll(async () => {
  const readLedger = async (filter: LedgerFilter): Promise<LedgerView> => {
    asked.push(filter)
    return view
  }
  installation = await objectsCommand({ readLedger })
})
afterAll(() => installation.close())
const run = (...argv: string[]) => installation.run(['ledger', ...argv])

describe('hookline ledger', () => {
  it('shows the counts of each hour and destination, and their sums', async () => {
    view = balanced
    const { code, out, err } = await run()
    expect(out.split('\n').map(line => line.trimEnd().split(/ {2,}/))).toEqual([
      [
        ...['HOUR', 'DESTINATION', 'ADMITTED', 'REPLAYED', 'REPEATED', 'DELIVERED', 'DEAD LETTERED', 'DROPPED'],
        ...['WAITING', 'DIFFERENCE'],
      ],
      ['2026-03-01T10:00:00.000Z', 'crm', '1000', '2', '1', '990', '3', '4', '6', '0'],
      ['total', '1000', '2', '1', '990', '3', '4', '6', '0'],
      [''],
    ])
    expect([code, err]).toEqual([0, ''])
  })

  it('has exit code 1 for a difference, also with --json', async () => {
    const wrong = { ...counts, difference: 1 }
    view = { ...balanced, totals: wrong, rows: [{ ...(balanced.rows[0] as LedgerView['rows'][0]), ...wrong }] }
    const { code, out, err } = await run('--json')
    expect(JSON.parse(out)).toEqual(view)
    expect(code).toBe(1)
    expect(err).toContain('the first row with a difference is destination crm, hour 2026-03-01T10:00:00.000Z')
    view = { ...view, rows: [] }
    expect(await run()).toMatchObject({
      code: 1,
      err: expect.stringContaining('but the table does not show their rows'),
    })
  })

  it.each([
    ['--since', '8d', '--since: is neither a time nor a duration'],
    ['--since', '169h', '--since: is more than 7 days ago'],
    ['--until', '167h', '--until: is too early'],
  ])('has exit code 2 for the wrong option %s %s', async (option, value, problem) => {
    expect(await run(option, value)).toMatchObject({ code: 2, out: '', err: expect.stringContaining(problem) })
  })

  it('has no verdict for an hour that is not complete', async () => {
    const { difference, ...incomplete } = counts
    view = {
      ...{ ...balanced, exactSince: '2026-03-01T11:00:00.000Z' },
      ...{ totals: incomplete, rows: [{ hour: '2026-03-01T10:00:00.000Z', destination: 'crm', ...incomplete }] },
    }
    const { code, out, err } = await run()
    expect(out).toMatch(/crm .* -\n/)
    expect(err).toBe(
      'hookline: the counts of hours before 2026-03-01T11:00:00.000Z are incomplete, so their DIFFERENCE is "-" and cannot show whether deliveries were lost\n',
    )
    expect(code).toBe(0)
    view = { ...view, partial: true }
    expect(await run()).toMatchObject({ code: 1, err: expect.stringContaining('not all counts could be read') })
  })

  it('suggests a name for a destination without counts that does not exist, with exit code 2', async () => {
    view = { ...balanced, rows: [] }
    expect(await run('--destination', 'fild')).toMatchObject({
      ...{
        code: 2,
        out: '',
        err: expect.stringContaining("--destination: unknown value 'fild' (did you mean filed?)"),
      },
    })
    for (const destination of ['filed', '-']) expect(await run('--destination', destination)).toMatchObject({ code: 0 })
  })

  it('has exit code 1 when the operator service returned no counts in time', async () => {
    const { difference, ...totals } = counts
    view = { ...balanced, totals, rows: [], partial: true }
    for (const destination of ['filed', 'fild'])
      expect(await run('--destination', destination)).toMatchObject({
        code: 1,
        err: expect.stringContaining('not all counts could be read'),
      })
  })

  it('shows the counts of a destination that was removed', async () => {
    view = balanced
    expect(await run('--destination', 'crm')).toMatchObject({ code: 0 })
  })

  it('passes on the hours and the destination, and shows a refusal', async () => {
    view = balanced
    await run('--since', '2h', '--destination', 'crm')
    expect(asked.at(-1)?.destination).toBe('crm')
    expect(await run('--since', 'soon')).toMatchObject({ code: 2, err: expect.stringContaining('--since: ') })
  })
})
