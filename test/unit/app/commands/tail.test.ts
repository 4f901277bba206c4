import { describe, expect, it } from '@jest/globals'
import { KafkaError, topicMissing } from '../../../../src/adapters/kafka/kafkajs/errors.ts'
import { tailCommand } from '../../../../src/app/commands/tail.ts'
import { type AttemptFacts, encodeAttempt } from '../../../../src/core/delivery/attempt-facts-and-record.ts'
import { messageIdOf } from '../../../../src/core/message/message-ids-and-required-identifiers.ts'
import type { LogRecord, TopicFollowerHandlers } from '../../../../src/core/ports.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { configFolder } from '../../../support/config/config-folder.ts'
import { smallConfiguration } from '../../../support/config/small-configuration.ts'
import { runCommand } from '../../../support/process/in-process-command.ts'

const on = smallConfiguration()
const off = on.replace('schedule: [10s]', 'schedule: [10s], attemptsTopic: off')
const folder = await configFolder({ 'on.yaml': on, 'off.yaml': off })
const at = epochMs(Date.UTC(2026, 2, 1))

const delivered: AttemptFacts = {
  ...{ decision: 'delivered', destination: 'crm', source: 'web', messageId: 'm-1', type: 'track', attempt: 1 },
  ...{ outcomes: { a: 'delivered', b: 'timeout' }, elapsedMs: 35 },
}
const retried: AttemptFacts = {
  ...{ ...delivered, decision: 'retried', messageId: 'm-2', attempt: 3, outcomes: { 0: 'timeout' }, elapsedMs: 5_003 },
  nextAttemptInMs: 59_100,
}
const givenUp: AttemptFacts = {
  ...{
    ...delivered,
    decision: 'dead_lettered',
    reason: 'http_4xx',
    messageId: 'm-3',
    type: 'identify',
    source: 'server',
  },
  outcomes: { 0: 'http_4xx' },
}
const records = (...values: (string | null)[]): LogRecord[] =>
  values.map((value, offset) => ({
    ...{ topic: 'acme.attempts', partition: 0, offset, timestamp: at, key: Buffer.from('crm'), headers: {} },
    value: value === null ? null : Buffer.from(value),
  }))
const all = records(...[delivered, retried, givenUp].map(facts => encodeAttempt(facts, at)))

/** Runs `tail` on these attempts and interrupts the command after the last attempt. */
async function tail(
  argv: readonly string[],
  given: { handed?: readonly LogRecord[]; fails?: Error; file?: string } = {},
) {
  const { handed = all, fails, file = 'on.yaml' } = given
  const interrupted = new AbortController()
  let stopped = 0
  let from: unknown
  const follower = {
    async start({ onRecord, onCurrent }: TopicFollowerHandlers) {
      if (fails) throw fails
      for (const record of handed) onRecord(record)
      onCurrent(1)
      setImmediate(() => interrupted.abort())
    },
    async stop() {
      stopped++
    },
  }
  const load = async () => (io: Parameters<typeof tailCommand>[0]) =>
    tailCommand(io, (_, begin) => {
      from = begin
      return follower
    })
  const words = ['tail', '--config', `${folder}/${file}`, ...argv]
  const result = await runCommand(words, { signal: interrupted.signal }, [{ name: 'tail', summary: '', load }])
  return { ...result, lines: result.out.split('\n').filter(Boolean), stopped, from }
}
const idsOf = (lines: readonly string[]): string[] => lines.map(line => /m-\d/.exec(line)?.[0] ?? '')

describe('hookline tail', () => {
  it('prints one line per attempt from now on until it is interrupted', async () => {
    const { code, err, lines, stopped, from } = await tail([])
    expect({ code, err, stopped, from }).toEqual({ code: 0, err: '', stopped: 1, from: 'end' })
    expect(lines).toEqual([
      '2026-03-01T00:00:00.000Z crm delivered #1 35 ms track web m-1 a=delivered b=timeout',
      '2026-03-01T00:00:00.000Z crm retried #3 5003 ms track web m-2 0=timeout next attempt after 60s',
      '2026-03-01T00:00:00.000Z crm dead_lettered (http_4xx) #1 35 ms identify server m-3 0=http_4xx',
    ])
  })

  it('prints JSON lines with --json', async () => {
    const { lines } = await tail(['--json'])
    expect(lines.map(line => JSON.parse(line))).toEqual(
      [delivered, retried, givenUp].map(facts => ({ at: '2026-03-01T00:00:00.000Z', ...facts })),
    )
  })

  it.each([
    ['--destination crm', 'm-1 m-2 m-3'],
    ['--source server', 'm-3'],
    ['--type track', 'm-1 m-2'],
    ['--outcome timeout', 'm-1 m-2'],
    ['--outcome timeout --decision retried', 'm-2'],
    ['--message-id m-1', 'm-1'],
    ['--count 2', 'm-1 m-2'],
    ['--count 1 --type identify', 'm-3'],
  ])('%s', async (words, ids) => {
    const { code, lines } = await tail(words.split(' '))
    expect({ code, ids: idsOf(lines).join(' ') }).toEqual({ code: 0, ids })
  })

  it('finds a message by the id of its sender, which the attempt has as a hash', async () => {
    const messageId = messageIdOf('Bestellung 7', () => '')
    const handed = [...all, ...records(encodeAttempt({ ...delivered, messageId }, at))]
    const { lines } = await tail(['--message-id', 'Bestellung 7'], { handed })
    expect(lines).toEqual([expect.stringContaining(` ${messageId} `)])
  })

  it('shows the attempts for the messages of Hookline itself', async () => {
    const source = 'hookline.audiences'
    const { code, err, lines } = await tail(['--source', source], {
      handed: [...all, ...records(encodeAttempt({ ...delivered, source }, at))],
    })
    expect({ code, err, lines }).toEqual({ code: 0, err: '', lines: [expect.stringContaining(source)] })
  })

  it.each([
    ['destination', 'old-crm', 'possible: crm'],
    ['source', 'old-web', 'possible: web, server'],
    ['destination', 'cmr', 'did you mean crm?'],
  ])('with --since shows earlier attempts of a removed %s (%s)', async (kind, id, advice) => {
    const { code, err, lines } = await tail([`--${kind}`, id, '--since', '2h'], {
      handed: [...all, ...records(encodeAttempt({ ...delivered, [kind]: id }, at))],
    })
    expect({ code, lines }).toEqual({ code: 0, lines: [expect.stringContaining(id)] })
    expect(err).toBe(
      `hookline: --${kind}: '${id}' is not in the configuration (${advice}); if it was removed from the configuration, only attempts from before the removal can match\n`,
    )
  })

  it('starts at the time of --since', async () => {
    expect((await tail(['--since', '2026-03-01T00:00:00Z'])).from).toBe(at)
  })

  it('skips invalid records and replaces control characters', async () => {
    const strange = { ...delivered, messageId: '\u001b[2J' }
    const { lines } = await tail([], { handed: records(null, 'no JSON', encodeAttempt(strange, at)) })
    expect(lines).toEqual(['2026-03-01T00:00:00.000Z crm delivered #1 35 ms track web \ufffd[2J a=delivered b=timeout'])
  })

  it.each([
    [['--destination', 'cmr'], "hookline: --destination: unknown value 'cmr' (did you mean crm?)\n"],
    [['--source', 'wbe'], "hookline: --source: unknown value 'wbe' (did you mean web?)\n"],
    [['--outcome', 'timeuot'], "hookline: --outcome: unknown value 'timeuot' (did you mean timeout?)\n"],
    [['--since', 'yesterday'], /^hookline: --since must be a time/],
  ])('rejects %j', async (argv, message) => {
    const { code, err } = await tail(argv)
    expect(code).toBe(2)
    expect(err).toEqual(typeof message === 'string' ? message : expect.stringMatching(message))
  })

  it('explains how to enable attempt records', async () => {
    const { code, err } = await tail([], { file: 'off.yaml' })
    expect(code).toBe(1)
    expect(err).toContain('set it to "all", run `hookline topics apply`')
  })

  it.each([
    [
      topicMissing('acme.attempts'),
      'hookline: topic acme.attempts does not exist; create it with: hookline topics apply\n',
    ],
    [new KafkaError('no broker', { code: 'X', retriable: true }), 'hookline: no broker\n'],
  ])('fails when the topic cannot be read: %s', async (fails, err) => {
    expect(await tail([], { fails })).toMatchObject({ code: 1, err, stopped: 1 })
  })
})
