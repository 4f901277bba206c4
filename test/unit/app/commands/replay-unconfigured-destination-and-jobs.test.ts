import { describe, expect, it } from '@jest/globals'
import { parseDeadLetter } from '../../../../src/core/delivery/parse-dead-letter.ts'
import { deadLetterView } from '../../../../src/core/operator/dead-letter-view.ts'
import type { MessageAndDeadLetterApi } from '../../../../src/core/operator/message-and-dead-letter-api.ts'
import { recordOf } from '../../../support/builders.ts'
import { closingAfterEach } from '../../../support/cleanup.ts'
import { replayJob, running } from '../../../support/jobs/builders.ts'
import { writtenDeadLetter } from '../../../support/operator/dead-letter-records.ts'
import { runReplay as run } from '../../../support/operator/replay-command.ts'
import { deliveryOf, givenUp } from '../../../support/operator/replay-harness.ts'
import { objectsCommand } from '../../../support/operator/run-operator-api-commands.ts'

const closing = closingAfterEach()

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
      err: "hookline: nothing replayed: the configuration has no usable destination 'gone'; add the destination or correct its problems, then replay its dead letters\n",
    })
  })

  it('accepts - for dead letters without a destination', async () => {
    expect(await run([], ['--destination', '-'])).toMatchObject({ code: 0, out: 'no dead letters\n' })
  })
})

describe('an unconfigured --destination of a job', () => {
  const gone = deadLetterView(parseDeadLetter(recordOf(writtenDeadLetter(1, { destination: 'gone' }))), {})
  /** Dead letters, all of the destination `gone`. */
  const log: MessageAndDeadLetterApi = {
    message: () => Promise.reject(new Error('not asked')),
    deadLetters: async ({ filter }) => ({
      kind: 'answered',
      body: { deadLetters: [gone].filter(({ destination }) => destination === filter.destination) },
    }),
    deadLetter: () => Promise.reject(new Error('not asked')),
  }

  it.each<[string, number, string]>([
    ['fild', 2, "--destination: unknown value 'fild' (did you mean filed?)"],
    ['nobody-at-all', 2, "--destination: unknown value 'nobody-at-all' (use an id from GET /v1/destinations)"],
    [
      'gone',
      1,
      "nothing replayed: the configuration has no usable destination 'gone'; add the destination or correct its problems, then replay its dead letters",
    ],
  ])('has the same exit code: %s', async (typed, code, text) => {
    const installation = closing(await objectsCommand({ log }))
    expect(await installation.run(['replay', '--destination', typed])).toEqual({
      code,
      out: '',
      err: `hookline: ${text}\n`,
    })
  })

  it('shows the refusal if the dead letters cannot be read', async () => {
    const broken = { ...log, deadLetters: () => Promise.reject(new Error('no broker')) }
    const installation = closing(await objectsCommand({ log: broken }))
    expect(await installation.run(['replay', '--destination', 'fild'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('names a destination that does not exist'),
    })
  })

  it('does not hide another problem of the request', async () => {
    const installation = closing(await objectsCommand({ log }))
    expect(await installation.run(['replay', '--destination', 'filed', '--rate', '10001'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('rate: is not valid'),
    })
  })
})

describe('while a replay job runs', () => {
  const jobs = [running(replayJob('r-1'))]

  it('replays nothing', async () => {
    const { code, out, err, producer } = await run([givenUp(1)], ['--destination', 'crm'], { jobs })
    expect({ code, out, written: producer.written }).toEqual({ code: 1, out: '', written: 0 })
    expect(err).toBe(
      'hookline: nothing replayed, because the replay job r-1 has not ended, and may replay the same dead letters; wait until the job ends, or cancel it with: hookline replay --cancel r-1 --operator-url <url>\n',
    )
  })

  it('counts dead letters with --dry-run', async () => {
    const { code, out } = await run([givenUp(1)], ['--destination', 'crm', '--dry-run'], { jobs })
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('1 would be replayed') })
  })
})

it('warns about a replay job that waits for an operator service', async () => {
  const given = { jobs: [replayJob('r-2')], jobsAgeMs: 61_000 }
  const { code, err } = await run([givenUp(1)], ['--destination', 'crm'], given)
  expect([code, err]).toEqual([0, expect.stringContaining('replay job r-2 is unfinished')])
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
