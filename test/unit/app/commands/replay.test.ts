import { describe, expect, it } from '@jest/globals'
import { KafkaError } from '../../../../src/adapters/kafka/kafkajs/errors.ts'
import { runReplay as run } from '../../../support/operator/replay-command.ts'
import { firstTier, givenUp, refusedEvent, topics } from '../../../support/operator/replay-harness.ts'

const some = [givenUp(1), givenUp(2), givenUp(3, 'gone'), givenUp(4, 'off'), refusedEvent(5)]

describe('the report', () => {
  it('is a table with totals', async () => {
    const { code, out, err, harness } = await run(some.slice(0, 2), ['--destination', 'crm'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out.split('\n')).toEqual([
      'COUNT  DESTINATION  REASON             TARGET',
      '2      crm          retries_exhausted  hookline.retry.10s',
      '2 dead letters, 2 selected, 2 replayed',
      '',
    ])
    expect(harness.parked.toSorted()).toEqual(['crm m-1 1', 'crm m-2 1'])
  })

  it('is JSON with --json', async () => {
    const { out } = await run(some, ['--json'])
    expect(JSON.parse(out)).toEqual({
      dryRun: false,
      end: 'done',
      total: 5,
      selected: 5,
      replayed: 3,
      byReason: { retries_exhausted: 4, undecodable: 1 },
      byDestination: { crm: 2, gone: 1, off: 1, '-': 1 },
      byTopic: { [firstTier]: 2, [topics.events]: 1 },
      refused: { unknown_destination: 1, disabled: 1 },
    })
  })

  it('lists dead letters not replayed, with a remedy, and exits with 1', async () => {
    const { code, out, err, harness } = await run(some, ['--reason', 'retries_exhausted'])
    expect(code).toBe(1)
    expect(out.split('\n').slice(-4)).toEqual([
      '1      gone         retries_exhausted  not replayed: unknown_destination',
      '1      off          retries_exhausted  not replayed: disabled',
      '5 dead letters, 4 selected, 2 replayed',
      '',
    ])
    expect(err.split('\n')).toEqual([
      'hookline: 1 dead letter not replayed, because the destination is not in the configuration: gone; add it again, then run the replay again',
      'hookline: 1 dead letter not replayed, because the destination is disabled: off; enable it, then run the replay again',
      'hookline: 2 of 4 selected dead letters were not replayed; see the reasons above',
      '',
    ])
    expect(harness.standing).toHaveLength(3)
  })

  it('replaces control characters of records from other producers', async () => {
    const foreign = { key: Buffer.from('k'), value: Buffer.from('v'), headers: { reason: 'no\nsense\u{1b}[2J' } }
    const { code, out, err } = await run([foreign], ['--destination', '-'])
    expect(code).toBe(1)
    expect(out).toContain('1      -            no\u{fffd}sense\u{fffd}[2J  not replayed: unreadable\n')
    expect(err).toContain(
      '1 dead letter not replayed, because the headers are invalid, or the event cannot be decoded; to see these dead letters, run: hookline dead-letters --json',
    )
  })

  it.each([
    ['no dead letters', [], 'no dead letters\n'],
    ['nothing selected', some, '5 dead letters, 0 selected, 0 replayed\n'],
  ])('%s', async (_name, deadLetters, out) => {
    expect(await run(deadLetters, ['--message-id', 'nobody'])).toMatchObject({ code: 0, out, err: '' })
  })
})

describe('--dry-run', () => {
  it('writes nothing, asks nothing and exits with 0', async () => {
    const { code, out, err, harness, producer } = await run(some, ['--dry-run'], { isTTY: true, stdin: '' })
    expect(code).toBe(0)
    expect(out).toMatch(/\n5 dead letters, 5 selected, 3 would be replayed\n$/)
    expect(out).toContain('2      crm          retries_exhausted  hookline.retry.10s\n')
    expect(out).toContain('1      -            undecodable        hookline.events\n')
    expect(err).toContain(
      'hookline: 1 dead letter not replayed, because the destination is not in the configuration: gone;',
    )
    expect(producer.written).toBe(0)
    expect(harness.standing).toHaveLength(5)
  })

  it('prints JSON with --json', async () => {
    const { out } = await run(some, ['--dry-run', '--json'])
    expect(JSON.parse(out)).toMatchObject({ dryRun: true, total: 5, selected: 5, replayed: 0 })
  })
})

describe('without a filter', () => {
  const two = some.slice(0, 2)

  it('announces a replay of all and does not ask when stdin is not a terminal', async () => {
    const { code, err, harness } = await run(two, [])
    expect({ code, err }).toEqual({ code: 0, err: 'no filter is given, so all 2 dead letters will be replayed\n' })
    expect(harness.standing).toEqual([])
  })

  it.each([
    ['y\n', 2],
    ['Yes\n', 2],
    ['\n', 0],
    ['n\n', 0],
    ['yellow\n', 0],
    ['', 0],
  ])('asks on a terminal: %j replays %i', async (stdin, replayed) => {
    const { code, out, err, harness } = await run(two, [], { isTTY: true, stdin })
    expect(err).toMatch(/^no filter is given, so all 2 dead letters will be replayed\ncontinue\? \[y\/N\] /)
    expect(harness.parked).toHaveLength(replayed)
    expect(code).toBe(replayed === 0 ? 1 : 0)
    if (replayed > 0) return
    expect(out).toBe('')
    expect(err).toContain('hookline: nothing replayed, because you did not confirm with "y"\n')
  })

  it('does not ask without dead letters', async () => {
    expect(await run([], [], { isTTY: true })).toMatchObject({ code: 0, out: 'no dead letters\n' })
  })

  it('does not ask with a filter', async () => {
    const { code, err } = await run(two, ['--since', '2026-01-01'], { isTTY: true })
    expect(code).toBe(0)
    expect(err).not.toContain('continue?')
  })
})

describe('progress', () => {
  const bar = /\d+% \d+\/2 dead letters checked, \d+ replayed/
  it.each([
    ['on a terminal', { isTTY: true }, [], true],
    ['not elsewhere', {}, [], false],
    ['not beside JSON', { isTTY: true }, ['--json'], false],
  ])('is shown %s', async (_name, io, argv, isShown) => {
    const { err } = await run(some.slice(0, 2), ['--destination', 'crm', ...argv], io)
    expect(bar.test(err)).toBe(isShown)
  })

  it('does not count replayed dead letters in a dry run', async () => {
    const { err } = await run(some.slice(0, 2), ['--destination', 'crm', '--dry-run'], { isTTY: true })
    expect(err).toMatch(/\d+% \d+\/2 dead letters checked, /)
    expect(err).not.toMatch(/\d+ replayed, /)
  })
})

describe('an incomplete replay', () => {
  it('reports its progress after a signal', async () => {
    const stopping = new AbortController()
    const refuses = (): boolean => {
      stopping.abort()
      return false
    }
    const many = Array.from({ length: 300 }, (_, n) => givenUp(n))
    const { code, out, err, harness } = await run(many, ['--destination', 'crm'], { signal: stopping.signal, refuses })
    expect(code).toBe(1)
    // The records that were in progress at the signal were still written.
    expect(out).toMatch(/\n300 dead letters, 257 selected so far, 256 replayed\n$/)
    expect(err).toBe(
      'hookline: interrupted: 256 dead letters replayed; run the same command again to replay the remaining ones\n',
    )
    expect(harness.standing).toHaveLength(44)
  })

  it('prints no report after a signal before the count', async () => {
    const { code, out, err } = await run(some, ['--json'], { signal: AbortSignal.abort() })
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toBe(
      'hookline: interrupted: 0 dead letters replayed; run the same command again to replay the remaining ones\n',
    )
  })

  it('does not report a replay when a dry run is interrupted', async () => {
    const { code, err } = await run(some, ['--dry-run'], { signal: AbortSignal.abort() })
    expect({ code, err }).toEqual({
      code: 1,
      err: 'hookline: interrupted before all dead letters were checked; run the same command again\n',
    })
  })

  it('reports dead letters that the next replay will repeat', async () => {
    const refuses = (topic: string): boolean => topic === topics.deadLetter
    const { code, out, err } = await run([givenUp(1)], ['--destination', 'crm'], { refuses })
    expect(code).toBe(1)
    expect(out).toMatch(/\n1 dead letter, 1 selected so far, 0 replayed\n$/)
    expect(err.split('\n')).toEqual([
      'hookline: also replayed 1 dead letter, but Kafka did not acknowledge the records that mark them as replayed; the next replay may replay them again, with the same message ids',
      'hookline: hookline.dead-letter takes nothing',
      '',
    ])
  })

  it('reports a missing topic with a remedy', async () => {
    const missing = new KafkaError('topic hookline.dead-letter does not exist', {
      code: 'TOPIC_MISSING',
      retriable: false,
    })
    const { code, out, err } = await run([], [], { access: { reader: { readToEnd: () => Promise.reject(missing) } } })
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toBe('hookline: topic hookline.dead-letter does not exist; create it with: hookline topics apply\n')
  })

  it.each<[string[], string]>([
    [['--rate', '0'], "--rate must be an integer >= 1, not '0'"],
    [['--reason', 'http4xx'], "--reason: unknown value 'http4xx' (did you mean http_4xx?)"],
  ])('rejects %j', async (argv, line) => {
    const { producer, ...result } = await run(some, argv)
    expect(result).toMatchObject({ code: 2, out: '', err: `hookline: ${line}\n` })
    expect(producer.written).toBe(0)
  })
})

describe('--config', () => {
  const operator = 'http://127.0.0.1:1'

  it('takes precedence over HOOKLINE_OPERATOR_URL', async () => {
    const env = { HOOKLINE_OPERATOR_URL: operator }
    const { code, err, harness } = await run(some.slice(0, 2), ['--destination', 'crm'], { env })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(harness.parked).toHaveLength(2)
  })

  it('is refused with --operator-url', async () => {
    const { producer, ...result } = await run(some, ['--operator-url', operator])
    expect(result).toMatchObject({ code: 2, out: '', err: 'hookline: use only one of --config and --operator-url\n' })
    expect(producer.written).toBe(0)
  })

  it.each(['--follow', '--cancel'])('is refused with %s', async option => {
    const { producer, ...result } = await run(some, [option, 'r-1'])
    const err = 'hookline: --follow and --cancel cannot be combined with --config\n'
    expect(result).toMatchObject({ code: 2, out: '', err })
    expect(producer.written).toBe(0)
  })
})

it('uses the retry window of the configuration', async () => {
  const { harness } = await run([givenUp(1)], ['--destination', 'crm'])
  const [parked] = harness.memoryTopics.records(firstTier)
  const { 'started-at': startedAt, deadline } = parked?.headers ?? {}
  expect(Number(deadline) - Number(startedAt)).toBe(4 * 3_600_000)
})
