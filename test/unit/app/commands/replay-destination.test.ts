import { describe, expect, it } from '@jest/globals'
import { runReplay as run } from '../../../support/operator/replay-command.ts'
import { deliveryOf, givenUp } from '../../../support/operator/replay-harness.ts'

const some = [givenUp(1), givenUp(2), givenUp(3, 'gone'), givenUp(4, 'off')]

describe('an unconfigured --destination', () => {
  it.each([
    ['crn', 'did you mean crm?'],
    ['gine', 'did you mean gone?'],
    ['CRM', 'did you mean crm?'],
    ['nobody-at-all', 'possible: crm, off, gone'],
  ])('without dead letters exits with 2 and suggests the nearest name: %s', async (typed, advice) => {
    const { code, out, err, producer } = await run(some, ['--destination', typed])
    expect({ code, out, written: producer.written }).toEqual({ code: 2, out: '', written: 0 })
    expect(err).toBe(`hookline: --destination: unknown value '${typed}' (${advice})\n`)
  })

  it('with dead letters exits with 1', async () => {
    const { code, err, producer } = await run(some, ['--destination', 'gone'])
    expect({ code, written: producer.written }).toEqual({ code: 1, written: 0 })
    expect(err).toContain(
      'hookline: 1 dead letter not replayed, because the destination is not in the configuration: gone;',
    )
  })

  it('exits with 1 when its dead letters do not match the other filters', async () => {
    const { code, err } = await run(some, ['--destination', 'gone', '--message-id', 'nobody'])
    expect({ code, err }).toEqual({
      code: 1,
      err: "hookline: nothing replayed: destination 'gone' is not in the configuration; add it again to replay its dead letters\n",
    })
  })

  it('accepts - for dead letters without a destination', async () => {
    expect(await run([], ['--destination', '-'])).toMatchObject({ code: 0, out: 'no dead letters\n' })
  })
})

describe('an event whose source is no longer connected to its destination', () => {
  it('is not replayed, and the hint names the option', async () => {
    const { code, out, err, producer } = await run([deliveryOf(1, 'other')], ['--destination', 'crm'])
    expect({ code, written: producer.written }).toEqual({ code: 1, written: 0 })
    expect(out).toContain('not replayed: not_connected')
    expect(err).toContain('use --even-disconnected')
  })

  it('is replayed with --even-disconnected', async () => {
    const argv = ['--destination', 'crm', '--even-disconnected']
    const { code, harness } = await run([deliveryOf(1, 'other'), deliveryOf(2, 'web')], argv)
    expect(code).toBe(0)
    expect(harness.parked.toSorted()).toEqual(['crm m-1 1', 'crm m-2 1'])
  })
})
