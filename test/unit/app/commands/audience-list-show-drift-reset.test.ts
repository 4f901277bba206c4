import { beforeEach, describe, expect, it } from '@jest/globals'
import { syncId } from '../../../../src/core/audience/sync-id.ts'
import type { JsonText } from '../../../../src/core/message/canonical-json-text.ts'
import { AudienceCommandHarness, firstId, shoppers } from '../../../support/audience/command-harness.ts'
import { topics } from '../../../support/operator/deletion-and-audience-command-harness.ts'

let harness: AudienceCommandHarness
beforeEach(() => {
  harness = new AudienceCommandHarness()
})

describe('audience list and show', () => {
  beforeEach(() => {
    harness.keepShopper('ada', { syncId: syncId(firstId) })
    harness.keepShopper('bob', { acknowledged: undefined })
    harness.keepShopper('eve', { desired: 'false' as JsonText, inFlight: harness.inFlight() })
    harness.keepShopper('ada', {}, 'gone')
    harness.keep({ audience: 'Removed', userId: 'ada', destination: 'crm' }, {})
  })

  it('list shows every audience at every destination', async () => {
    const { code, out } = await harness.run(['list'])
    expect(code).toBe(0)
    expect(
      out
        .trimEnd()
        .split('\n')
        .map(line => line.split(/ {2,}/).join(' | ')),
    ).toEqual([
      'NAME | KIND | PROPERTY | LAST SYNC | DESTINATION | MEMBERS | ACKNOWLEDGED | IN FLIGHT | UNKNOWN | DIFFERENT',
      'First time shopper | audience | first_time_shopper | 2026-03-01T00:00:00.000Z | crm | 2 | 1 | 1 | 1 | 0',
      'First time shopper | audience | first_time_shopper | 2026-03-01T00:00:00.000Z | erp | 0 | 0 | 0 | 0 | 0',
      'First time shopper | audience | first_time_shopper | 2026-03-01T00:00:00.000Z | gone (not connected) | 1 | 1 | 0 | 0 | 0',
      'Lifetime value | trait | lifetime_value | never | crm | 0 | 0 | 0 | 0 | 0',
      'Idle | audience | idle | never | none | - | - | - | - | -',
      'Removed (not in the configuration) | - | - | 1970-01-01T00:00:00.000Z | crm (not connected) | 1 | 1 | 0 | 0 | 0',
    ])
  })

  it('list and its JSON tell a disabled destination of the audience from one that is not connected', async () => {
    harness.keep({ audience: 'Idle', userId: 'ada', destination: 'off' }, {})
    const { out } = await harness.run(['list'])
    expect(out).toMatch(/^Idle +audience +idle +\S+ +off \(disabled\) +1 /m)
    const { audiences } = JSON.parse((await harness.run(['list', '--json'])).out)
    expect(audiences.find(({ name }: { name: string }) => name === 'Idle').destinations).toMatchObject([
      { id: 'off', connected: true, disabled: true, members: 1 },
    ])
  })

  it('list reports that there are no audiences', async () => {
    harness = new AudienceCommandHarness()
    expect(await harness.run(['list'], {}, 'empty.yaml')).toMatchObject({
      code: 0,
      out: 'no audiences: audiences.list in the configuration is empty\n',
    })
  })

  it('show prints one audience as JSON', async () => {
    const { out } = await harness.run(['show', ...shoppers, '--json'])
    const none = { acknowledged: 0, inFlight: 0, unknown: 0, different: 0 }
    const enabled = { connected: true, disabled: false }
    expect(JSON.parse(out)).toEqual({
      name: 'First time shopper',
      kind: 'audience',
      property: 'first_time_shopper',
      configured: true,
      lastSync: { syncId: firstId, beganAt: '2026-03-01T00:00:00.000Z' },
      destinations: [
        { id: 'crm', ...enabled, members: 2, acknowledged: 1, inFlight: 1, unknown: 1, different: 0 },
        { id: 'erp', ...enabled, members: 0, ...none },
        { id: 'gone', connected: false, disabled: false, members: 1, ...none, acknowledged: 1 },
      ],
    })
    expect(JSON.parse((await harness.run(['list', '--json'])).out).audiences[0]).toEqual(JSON.parse(out))
  })

  it('show --user prints the memberships of one user', async () => {
    const { out } = await harness.run(['show', ...shoppers, '--user', 'eve'])
    expect(out.split('\n').map(line => line.split(/ {2,}/))).toEqual([
      ['DESTINATION', 'STATUS', 'DESIRED', 'ACKNOWLEDGED', 'IN FLIGHT', 'IN FLIGHT SINCE', 'LAST SYNC'],
      ['crm', 'in flight', 'false', 'true', 'true', '2026-03-01T00:00:00.000Z', '1970-01-01T00:00:00.000Z'],
      [''],
    ])
    expect((await harness.run(['show', ...shoppers, '--user', 'zoe'])).out).toBe(
      'the audience First time shopper does not contain the user zoe, and no destination needs a change for this user\n',
    )
    expect(JSON.parse((await harness.run(['show', ...shoppers, '--user', 'bob', '--json'])).out)).toEqual({
      destinations: [
        {
          userId: 'bob',
          destination: 'crm',
          standing: 'unknown',
          desired: true,
          acknowledged: null,
          inFlight: null,
          version: 1,
          lastSync: { syncId: 1_000, beganAt: '1970-01-01T00:00:00.000Z' },
        },
      ],
    })
  })
})

describe('audience drift', () => {
  it('reports that there is no drift', async () => {
    harness.keepShopper('ada', {})
    expect(await harness.run(['drift', ...shoppers])).toEqual({
      code: 0,
      out: 'every destination has acknowledged the current values of all users in First time shopper\n',
      err: '',
    })
  })

  it('exits with 0 while all changes are in flight', async () => {
    harness.keepShopper('ada', { inFlight: harness.inFlight() })
    expect(await harness.run(['drift', ...shoppers])).toEqual({
      code: 0,
      out: 'crm: 1 user with status "in flight"\n',
      err: '',
    })
  })

  it('counts members by destination and exits with 1 when some are not in flight', async () => {
    harness.keepShopper('ada', { inFlight: harness.inFlight() })
    harness.keepShopper('bob', { acknowledged: undefined })
    harness.keepShopper('bob', { acknowledged: 'false' as JsonText }, 'erp')
    const { code, out, err } = await harness.run(['drift', ...shoppers])
    expect(code).toBe(1)
    expect(out.split('\n').toSorted()).toEqual([
      '',
      'crm: 1 user with status "in flight", 1 user with status "unknown"',
      'erp: 1 user with status "different"',
    ])
    expect(err).toBe(
      'hookline: found 2 pairs of a user and a destination with the status "unknown" or "different"; check that each destination above is enabled and is in audiences.list for this audience, then run a full sync of the audience\n',
    )
  })

  it('prints one JSON line per member with --json', async () => {
    harness.keepShopper('bob', { acknowledged: 'false' as JsonText }, 'erp')
    const { out, err } = await harness.run(['drift', ...shoppers, '--json'])
    expect(
      out
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line)),
    ).toMatchObject([
      { userId: 'bob', destination: 'erp', standing: 'different', desired: true, acknowledged: { value: false } },
    ])
    expect(err).toContain('erp: 1 user with status "different"\n')
  })
})

describe('audience reset', () => {
  it('writes a reset to every partition', async () => {
    const { code, out } = await harness.run(['reset', ...shoppers])
    expect({ code, out }).toEqual({
      code: 0,
      out: 'audience First time shopper was reset; its next full sync sends all members to crm, erp\n',
    })
    expect(harness.inputs()).toEqual(Array(2).fill({ kind: 'reset', audience: 'First time shopper' }))
    expect(new Set(harness.log.records(topics.audienceInput).map(({ partition }) => partition)).size).toBe(2)
  })

  it('resets only the destination of --destination', async () => {
    const { out } = await harness.run(['reset', ...shoppers, '--destination', 'crm', '--json'])
    expect(JSON.parse(out)).toEqual({ audience: 'First time shopper', destinations: ['crm'] })
    expect(harness.inputs()[0]).toMatchObject({ destination: 'crm' })
  })

  it.each([
    ['cmr', 'did you mean crm?'],
    ['', 'possible: crm, erp'],
  ])('rejects --destination %p', async (typed, advice) => {
    const { code, err } = await harness.run(['reset', ...shoppers, '--destination', typed])
    expect({ code, err }).toEqual({
      code: 2,
      err: `hookline: --destination: unknown value '${typed}' (${advice})\n`,
    })
    expect(harness.inputs()).toEqual([])
  })
})
