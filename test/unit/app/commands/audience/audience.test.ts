import { beforeEach, describe, expect, it } from '@jest/globals'
import { syncId } from '../../../../../src/core/audience/sync.ts'
import { AudienceCommandHarness, firstId, folder, shoppers } from '../../../../support/audience/command.ts'
import { topics } from '../../../../support/operator/harness.ts'

let harness: AudienceCommandHarness
beforeEach(() => {
  harness = new AudienceCommandHarness()
})

describe('audience sync', () => {
  it('writes what the file says', async () => {
    const { code, out, err } = await harness.run(['sync', ...shoppers, '--members', `${folder}/members.txt`])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^full sync \d{16} of First time shopper: 2 members in 0\.0 s\n$/)
    expect(harness.inputsTold().toSorted()).toEqual([
      'observed ada true',
      'observed bob true',
      'sync_ended',
      'sync_ended',
    ])
    expect(harness.open).toBe(0)
  })

  it('or stdin, and tells it as JSON', async () => {
    const argv = ['sync', ...shoppers, '--members', '-', '--partial', '--json']
    const { out } = await harness.run(argv, { stdin: 'ada\n{"userId":"bob","value":false}' })
    expect(JSON.parse(out)).toEqual({
      audience: 'First time shopper',
      mode: 'partial',
      syncId: expect.any(Number),
      received: 2,
      end: 'ended',
      seconds: 0,
    })
    expect(harness.inputsTold()).toContain('observed bob false')
    for (const input of harness.inputs()) expect(input).toMatchObject({ mode: 'partial' })
  })

  it('or the values of a trait', async () => {
    await harness.run(['sync', '--name', 'Lifetime value', '--members', `${folder}/members.csv`])
    expect(harness.inputsTold()).toEqual(expect.arrayContaining(['observed ada 12', 'observed bob "gold"']))
  })

  it("begins by the brokers' time, whatever the clock says, and reads no topic for that", async () => {
    harness.brokersAhead = 3_600_000
    await harness.run(['sync', ...shoppers, '--members', `${folder}/members.txt`])
    const [first] = harness.inputs() as readonly { syncId: number }[]
    expect(Math.floor((first?.syncId ?? 0) / 1_024)).toBe(Date.parse('2026-03-01T01:00:00.000Z'))
    expect(harness.read).toEqual([])
  })

  it.each<[string, () => void]>([
    ['of a full one', () => harness.keepMark('First time shopper', syncId(firstId + 3_600_000 * 1_024))],
    ['of a partial one', () => harness.keepShopper('zoe', { syncId: syncId(firstId + 3_600_000 * 1_024) })],
  ])('that is waited for fails behind one %s whose clock was ahead', async (_name, given) => {
    given()
    const { code, err } = await harness.run(['sync', ...shoppers, '--members', `${folder}/members.txt`, '--wait'])
    expect(code).toBe(1)
    expect(err).toMatch(/the audience has a sync of 2026-03-01T01:00:00.000Z, .* hookline audience reset, /)
  })

  it.each<[string, string[], string]>([
    [
      'an unknown name',
      ['--name', 'First time shoper', '--members', '-'],
      "--name: there is no 'First time shoper' (did you mean First time shopper?)",
    ],
    ['no such file', [...shoppers, '--members', '/nowhere/list'], '--members: ENOENT'],
    ['a directory', [...shoppers, '--members', '/'], '--members: / is a directory'],
    ['no list', shoppers, "required option '--members <file>' not specified"],
    ['no name', ['--members', '-'], "required option '--name <name>' not specified"],
  ])('usage: %s', async (_name, argv, message) => {
    const { code, err } = await harness.run(['sync', ...argv])
    expect(code).toBe(2)
    expect(err).toContain(`hookline: ${message}`)
    expect(harness.inputs()).toEqual([])
  })

  it.each<[string, string, string]>([
    [
      'a wrong line',
      'wrong.ndjson',
      ": line 2: it has no user id: give 'userId' as a text or a number; 1 members before that",
    ],
    ['nobody', 'nobody.txt', ' names nobody, which would take everybody out; if that is meant: --allow-empty'],
  ])('is refused for %s, and not ended', async (_name, file, message) => {
    const { code, out, err } = await harness.run(['sync', ...shoppers, '--members', `${folder}/${file}`])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(`hookline: ${folder}/${file}${message}`)
    expect(harness.inputsTold()).not.toContain('sync_ended')
  })

  it('of nobody takes everybody out when that is meant', async () => {
    const argv = ['sync', ...shoppers, '--members', `${folder}/nobody.txt`, '--allow-empty']
    expect((await harness.run(argv)).code).toBe(0)
    expect(harness.inputsTold()).toEqual(['sync_ended', 'sync_ended'])
  })

  it('says when no destination gets it', async () => {
    const { code, err } = await harness.run(['sync', '--name', 'Idle', '--members', '-'], { stdin: 'ada' })
    expect({ code, err }).toEqual({
      code: 0,
      err: 'hookline: no enabled destination gets Idle: see audiences.list\n',
    })
  })

  it('that is interrupted is not ended', async () => {
    const stopping = new AbortController()
    stopping.abort()
    const { code, err } = await harness.run(['sync', ...shoppers, '--members', '-'], {
      stdin: 'ada',
      signal: stopping.signal,
    })
    expect(code).toBe(1)
    expect(err).toContain('hookline: interrupted; 0 members before that')
    expect(harness.inputsTold()).not.toContain('sync_ended')
  })

  it('fails when Kafka does not take it', async () => {
    harness.log.unwritable.add(topics.audienceInput)
    const { code, err } = await harness.run(['sync', ...shoppers, '--members', '-'], { stdin: 'ada' })
    expect({ code, err }).toEqual({ code: 1, err: 'hookline: hookline.audience-input is not writable\n' })
    expect(harness.open).toBe(0)
  })

  it.each<[string, boolean, number, string]>([
    ['everything', true, 0, '2 delivered'],
    ['something was not', false, 1, '1 delivered, 1 not delivered'],
  ])('--wait ends when all is over: %s', async (_name, isDelivered, code, line) => {
    harness.keepShopper('ada', {})
    harness.keepShopper('bob', isDelivered ? {} : { acknowledged: undefined })
    const result = await harness.run(['sync', ...shoppers, '--members', `${folder}/members.txt`, '--wait'])
    expect(result.code).toBe(code)
    expect(result.out.split('\n')[1]).toBe(line)
    if (code === 1) expect(result.err).toContain('1 were not delivered: the next sync tells them again')
  })

  it('--wait can be interrupted: the sync goes on', async () => {
    harness.keepShopper('ada', { inFlight: harness.inFlight() })
    const stopping = new AbortController()
    harness.committed = () => {
      stopping.abort()
      return [0, 0]
    }
    const argv = ['sync', ...shoppers, '--members', `${folder}/members.txt`, '--wait']
    const { code, err } = await harness.run(argv, { signal: stopping.signal })
    expect({ code, err }).toEqual({
      code: 1,
      err: 'hookline: interrupted; the sync is complete and goes on by itself\n',
    })
    expect(harness.inputsTold()).toContain('sync_ended')
  })

  it('shows a bar on a terminal only', async () => {
    const argv = ['sync', ...shoppers, '--members', `${folder}/members.txt`]
    expect((await harness.run(argv, { isTTY: true })).err).toContain('2 members')
    expect((await harness.run([...argv, '--json'], { isTTY: true })).err).toBe('')
  })
})
