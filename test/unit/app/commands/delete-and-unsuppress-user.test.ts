import { beforeEach, describe, expect, it } from '@jest/globals'
import { deleteUserCommand } from '../../../../src/app/commands/delete-user.ts'
import { unsuppressUserCommand } from '../../../../src/app/commands/unsuppress-user.ts'
import type { CommandIo } from '../../../../src/app/create-command.ts'
import { deletionOutcomeKey, encodeDeletionOutcome } from '../../../../src/core/deletion/deletion-record-and-status.ts'
import { commandLimits } from '../../../../src/services/operator/find-deletion.ts'
import { configFolder } from '../../../support/config/config-folder.ts'
import { OperatorHarness, topics } from '../../../support/operator/deletion-and-audience-command-harness.ts'
import { runCommand } from '../../../support/process/in-process-command.ts'

const valid = `
kafka: { brokers: ["127.0.0.1:1"] }
registry: { url: "http://127.0.0.1:1" }
sources: [{ id: web, writeKey: secret-key }, { id: idle, writeKey: other-key }]
destinations:
  - { id: crm, sources: [web], webhooks: [{ url: "https://crm.example.com/" }] }
  - { id: "off", enabled: false, sources: [web, idle], webhooks: [{ url: "https://off.example.com/" }] }
`
const folder = await configFolder({
  'hookline.yaml': valid,
  'excluded.yaml': `${valid}destinationsFrom: more\n`,
  'more/lost.yaml': 'id: lost\nwebhooks: [',
})

let harness: OperatorHarness
beforeEach(() => {
  harness = new OperatorHarness()
})

function hookline(name: string, ...argv: readonly string[]) {
  const open = () => harness.access()
  const make = name === 'delete-user' ? deleteUserCommand : unsuppressUserCommand
  const load = async () => (io: CommandIo) => make(io, open)
  return harness.during(
    runCommand([name, '--config', `${folder}/hookline.yaml`, ...argv], {}, [{ name, summary: '', load }]),
  )
}
const deleteUser = (...argv: readonly string[]) => hookline('delete-user', ...argv)

function ended(request: string, userId: string, result: 'delivered' | 'undelivered'): void {
  const outcome = { request, source: 'web', destination: 'crm', userId, result, reason: undefined }
  harness.log.write(topics.deletions, Buffer.from(encodeDeletionOutcome(outcome)), deletionOutcomeKey(outcome))
}

describe('delete-user', () => {
  it('prints the id and the destinations', async () => {
    const { code, out, err } = await deleteUser('--user', 'ada', 'bob', '--user', 'ada', '--id', 'd-1')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out.split('\n')).toEqual([
      'deletion d-1 accepted: 2 users; see its progress with: hookline delete-user --status d-1',
      'SOURCE  DESTINATION  STATUS   DELIVERED  UNDELIVERED  WAITING',
      'web     crm          running  0          0            2',
      '',
    ])
    expect(harness.events().map(({ message }) => message.userId)).toEqual(expect.arrayContaining(['ada', 'bob']))
    expect(harness.marksOf('ada')).toMatchObject([{ isSuppressed: false }])
    expect(harness.open).toBe(0)
  })

  it('prints the same JSON as the API', async () => {
    const { out } = await deleteUser('--user', 'ada', '--suppress', '--source', 'web', '--json')
    expect(JSON.parse(out)).toEqual({
      id: expect.any(String),
      status: 'running',
      createdAt: '2026-03-01T00:00:00.000Z',
      sources: [
        { id: 'web', destinations: [{ id: 'crm', status: 'running', delivered: 0, undelivered: 0, waiting: 1 }] },
      ],
    })
    expect(harness.marksOf('ada')).toMatchObject([{ source: 'web', isSuppressed: true }, {}])
  })

  it('reports that no destination gets a delete message', async () => {
    const { code, out } = await deleteUser('--user', 'ada', '--source', 'idle', '--id', 'd-1')
    expect({ code, lines: out.split('\n')[1] }).toEqual({
      code: 0,
      lines: 'Hookline sends no delete messages, because no affected source has an enabled destination',
    })
    expect(harness.events()).toEqual([])
  })

  it.each<[string, string[], string]>([
    ['no user', [], 'missing option: use --user <user id>, or --status <deletion id>'],
    ['an empty id', ['--user', ''], '--user: the id of a user must not be empty'],
    [
      'an unknown source',
      ['--user', 'a', '--source', 'wbe'],
      `'sources': no source has the id "wbe": use ids of configured sources.`,
    ],
    [
      'an invalid id',
      ['--user', 'a', '--id', 'a b'],
      '--id must have 1 to 100 printable ASCII characters without spaces',
    ],
    [
      '--status with other options',
      ['--status', 'd-1', '--user', 'a'],
      '--status cannot be combined with --user, --source, --suppress or --id',
    ],
  ])('usage: %s', async (_name, argv, message) => {
    expect(await deleteUser(...argv)).toEqual({ code: 2, out: '', err: `hookline: ${message}\n` })
  })

  it('prints how to continue after a failure, and continues with the same ids', async () => {
    harness.log.unwritable.add(topics.events)
    const failed = await deleteUser('--user', 'ada', '--json')
    expect(failed).toMatchObject({ code: 1, out: '' })
    const [, id = ''] = /to continue, repeat the command with --id (\S+)\n$/.exec(failed.err) ?? []
    await harness.clock.advance(5_000)
    harness.log.unwritable.clear()
    const { code, out } = await deleteUser('--user', 'ada', '--id', id, '--json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ id, createdAt: '2026-03-01T00:00:00.000Z' })
    expect(new Set(harness.log.records(topics.deletions).map(({ value }) => String(value))).size).toBe(1)
  })

  it('starts no deletion while the sources of a destination are not known, but continues an earlier one', async () => {
    const ofExcluded = ['--config', `${folder}/excluded.yaml`]
    const refused = await deleteUser('--user', 'ada', ...ofExcluded)
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toMatch(/\nhookline: Hookline cannot read "sources" of the destination "lost", so .*\n$/)
    expect(harness.log.records(topics.suppressions)).toEqual([])
    await deleteUser('--user', 'ada', '--id', 'd-1')
    expect((await deleteUser('--user', 'ada', '--id', 'd-1', ...ofExcluded)).code).toBe(0)
  })

  it('writes the same delete messages again when it is repeated with --id', async () => {
    const ids = () => harness.events().map(({ message }) => message.messageId)
    await deleteUser('--user', 'ada', 'bob', '--id', 'd-1')
    const first = ids()
    expect(new Set(first).size).toBe(2)
    expect(await deleteUser('--user', 'ada', 'bob', '--id', 'd-1')).toMatchObject({ code: 0 })
    expect(ids().toSorted()).toEqual([...first, ...first].toSorted())
  })

  it('with --id, searches the whole topic for an earlier deletion, and starts one only if there is none', async () => {
    await deleteUser('--user', 'bob', '--id', 'd-0')
    for (const userId of ['ada', 'bob', 'cem']) ended('d-9', userId, 'delivered')
    harness.readMs = commandLimits.time
    expect(await deleteUser('--user', 'ada', '--id', 'd-1')).toMatchObject({ code: 0, err: '' })
    expect(await deleteUser('--user', 'ada', '--id', 'd-1')).toMatchObject({ code: 0, err: '' })
    const [first, second] = harness.events().filter(({ message }) => message.userId === 'ada')
    expect(second?.message.messageId).toBe(first?.message.messageId)
  })

  it.each<[string, string[]]>([
    ['other users', ['--user', 'ada', 'bob']],
    ['another option', ['--user', 'ada', '--suppress']],
    ['other sources', ['--user', 'ada', '--source', 'idle']],
  ])('rejects --id of a deletion with %s', async (_name, argv) => {
    await deleteUser('--user', 'ada', '--id', 'd-1')
    const { code, err } = await deleteUser(...argv, '--id', 'd-1')
    expect({ code, err }).toEqual({
      code: 2,
      err: 'hookline: --id: the deletion d-1 was started with other users or options; use the users and options of that deletion, or omit --id to start a new one\n',
    })
  })
})

describe('delete-user --status', () => {
  beforeEach(async () => {
    await deleteUser('--user', 'ada', 'bob', '--id', 'd-1')
  })

  it.each<[string, ('delivered' | 'undelivered')[], number, string]>([
    ['is running while a delivery waits', ['delivered'], 0, 'running'],
    ['is finished when all were delivered', ['delivered', 'delivered'], 0, 'finished'],
    ['has failed when one was not delivered', ['delivered', 'undelivered'], 1, 'failed'],
  ])('%s', async (_name, results, code, status) => {
    for (const [index, result] of results.entries()) ended('d-1', ['ada', 'bob'][index] as string, result)
    const result = await deleteUser('--status', 'd-1')
    expect(result.code).toBe(code)
    expect(result.out).toMatch(
      new RegExp(`^deletion d-1 of 2 users, accepted at 2026-03-01T00:00:00.000Z: ${status}\n`),
    )
    expect(result.err).toBe(
      code === 0
        ? ''
        : 'hookline: some delete messages were not delivered; the column UNDELIVERED above counts them by destination; list their dead letters with: hookline dead-letters --destination <id>; replay them with: hookline replay --destination <id>\n',
    )
    expect(JSON.parse((await deleteUser('--status', 'd-1', '--json')).out)).toMatchObject({ id: 'd-1', status })
  })

  it('reports that the read limit was reached', async () => {
    ended('d-0', 'ada', 'delivered')
    ended('d-0', 'bob', 'delivered')
    harness.readMs = commandLimits.time / 2
    const result = await deleteUser('--status', 'd-1')
    expect(result.out).toMatch(
      /\nthe search for results reached its limit \(5 s or 300000 records\), so Hookline may have delivered more .*\n$/,
    )
    expect(JSON.parse((await deleteUser('--status', 'd-1', '--json')).out)).toMatchObject({ partial: true })
    const strange = await deleteUser('--status', 'd-9')
    expect(strange).toMatchObject({
      code: 1,
      err: expect.stringMatching(/deletion d-9 was not found before .* its limit .*, but it may exist; .*\n$/),
    })
  })

  it('reports an unknown deletion', async () => {
    const err = 'hookline: there is no deletion with the id d-2: check the id\n'
    expect(await deleteUser('--status', 'd-2')).toEqual({ code: 1, out: '', err })
  })
})

describe('unsuppress-user', () => {
  it('lifts suppressions and reports users without one', async () => {
    await deleteUser('--user', 'ada', '--suppress')
    const { code, out } = await hookline('unsuppress-user', '--user', 'ada', 'bo\u{1b}b')
    const lines = [
      'Hookline delivers new events of this user again: ada',
      'nothing changed, because Hookline already delivers new events of this user: bo\u{fffd}b',
    ]
    expect({ code, out }).toEqual({ code: 0, out: `${lines.join('\n')}\n` })
    expect(harness.marksOf('ada')).toMatchObject([{ isSuppressed: false }])
    const again = await hookline('unsuppress-user', '--user', 'ada', '--json')
    expect(JSON.parse(again.out)).toEqual({ lifted: [], notSuppressed: ['ada'] })
  })

  it('requires --user', async () => {
    expect((await hookline('unsuppress-user')).code).toBe(2)
  })

  it('fails when Kafka rejects the write', async () => {
    await deleteUser('--user', 'ada', '--suppress')
    harness.log.unwritable.add(topics.suppressions)
    expect(await hookline('unsuppress-user', '--user', 'ada')).toMatchObject({ code: 1, out: '' })
    expect(harness.open).toBe(0)
  })
})
