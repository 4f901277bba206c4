import { describe, expect, it } from '@jest/globals'
import { runReplay as run } from '../../../support/operator/replay-command.ts'
import { deliveryOf, givenUp } from '../../../support/operator/replays.ts'

const some = [givenUp(1), givenUp(2), givenUp(3, 'gone'), givenUp(4, 'off')]

describe('--destination that is not configured', () => {
  it.each([
    ['crn', 'did you mean crm?'],
    ['gine', 'did you mean gone?'],
    ['CRM', 'did you mean crm?'],
    ['nobody-at-all', 'possible: crm, off, gone'],
  ])('nor named by a dead letter ends with 2 and names the nearest: %s', async (typed, advice) => {
    const { code, out, err, producer } = await run(some, ['--destination', typed])
    expect({ code, out, written: producer.written }).toEqual({ code: 2, out: '', written: 0 })
    expect(err).toBe(
      `hookline: --destination: neither the configuration nor a dead letter names '${typed}' (${advice})\n`,
    )
  })

  it('but named by a dead letter ends with 1 and says so', async () => {
    const { code, err, producer } = await run(some, ['--destination', 'gone'])
    expect({ code, written: producer.written }).toEqual({ code: 1, written: 0 })
    expect(err).toContain('hookline: 1 stay: not in the configuration: gone;')
  })

  it('but named by a dead letter that other filters leave out ends with 1 and says so', async () => {
    const { code, err } = await run(some, ['--destination', 'gone', '--message-id', 'nobody'])
    expect({ code, err }).toEqual({
      code: 1,
      err: 'hookline: gone is not in the configuration: nothing was replayed\n',
    })
  })

  it('is never asked of the ones that had none', async () => {
    expect(await run([], ['--destination', '-'])).toMatchObject({ code: 0, out: 'no dead letters\n' })
  })
})

describe('an event whose source is no longer connected to its destination', () => {
  it('stays, and the hint names the option', async () => {
    const { code, out, err, producer } = await run([deliveryOf(1, 'other')], ['--destination', 'crm'])
    expect({ code, written: producer.written }).toEqual({ code: 1, written: 0 })
    expect(out).toContain('stays: not_connected')
    expect(err).toContain('with --even-disconnected')
  })

  it('is replayed with --even-disconnected', async () => {
    const argv = ['--destination', 'crm', '--even-disconnected']
    const { code, harness } = await run([deliveryOf(1, 'other'), deliveryOf(2, 'web')], argv)
    expect(code).toBe(0)
    expect(harness.parked.toSorted()).toEqual(['crm m-1 1', 'crm m-2 1'])
  })
})
