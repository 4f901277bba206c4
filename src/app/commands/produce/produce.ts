import { createInterface } from 'node:readline'
import { type Command, Option } from 'commander'
import { countWithNoun } from '../../../core/count-with-noun.ts'
import { type CallType, callTypes } from '../../../core/message/message.ts'
import type { Rejection } from '../../../core/message/message-rejection.ts'
import { type Normalised, normalise } from '../../../core/message/normalise.ts'
import { parseMessageText } from '../../../core/message/parse-message-json.ts'
import type { Clock } from '../../../core/ports.ts'
import type { Settings } from '../../../core/settings/settings.ts'
import { topicNames } from '../../../core/topics.ts'
import { paced } from '../../../services/pacer.ts'
import {
  CommandFailed,
  type CommandIo,
  createCommand,
  printData,
  UsageError,
  withExamples,
} from '../../create-command.ts'
import { type CommandClients, openCommandClients } from '../../kafka-clients-of-commands.ts'
import { loadMergedSettings } from '../../merged-settings-of-command.ts'
import { wholeNumber, withConfigOption, withJsonOption } from '../../options.ts'
import { createProgressBar, type ProgressBar } from '../../terminal-table-and-progress-bar.ts'
import { createEventWriter, type EventWriter } from './event-writer.ts'
import { createSampleMessages } from './sample-messages.ts'

interface Options {
  readonly config?: string
  readonly json?: boolean
  readonly count?: number
  readonly rate?: number
  readonly type?: readonly CallType[]
  readonly source?: string
  readonly users: number
  readonly seed?: number
  readonly stdin?: boolean
}

type Clients = Pick<CommandClients, 'clock' | 'producer' | 'brokerTime' | 'events' | 'close'>
type OpenClients = (settings: Settings, io: CommandIo) => Clients

const description = [
  'Writes messages to the events topic: sample messages or, with --stdin, the messages that it reads from stdin as JSON lines. The command writes the messages in the same format as the collector, and Hookline delivers them to the destinations of the source.',
  'Without --stdin, --count and --rate, the command writes 100 sample messages. With --rate but without --count, it runs until you stop it with Ctrl-C.',
].join('\n\n')

const examples = [
  'hookline produce --count 10000 --rate 500',
  'hookline produce --type track,identify --source web --seed 7',
  'hookline produce --rate 200                     # until interrupted',
  `echo '{"type":"track","userId":"u-1","event":"Signed Up"}' | hookline produce --stdin`,
]

/** `hookline produce`: writes sample messages, or messages from stdin, to the events topic. */
export function produceCommand(io: CommandIo, open: OpenClients = openCommandClients): Command {
  const sampleOnly = ['count', 'rate', 'type', 'users', 'seed']
  const command = createCommand('produce', 'write sample messages, or JSON lines from stdin, to the events topic', io)
    .description(description)
    .option(
      '-n, --count <number>',
      'write this number of messages (default: 100, or unlimited with --rate)',
      wholeNumber('--count', 1),
    )
    .option(
      '--rate <number>',
      'write at most this number of messages per second (default: unlimited)',
      wholeNumber('--rate', 1),
    )
    .option(
      '--type <list>',
      `write messages of these types (comma-separated, default: ${callTypes.join(',')})`,
      parseTypes,
    )
    .option('--source <id>', 'source of the messages (default: the first source in the configuration)')
    .option('--users <number>', 'number of different users in the sample messages', wholeNumber('--users', 1), 1_000)
    .option(
      '--seed <number>',
      'number from which the sample messages are generated; the same seed gives the same messages and ids (default: random)',
      wholeNumber('--seed', 0),
    )
    .addOption(new Option('--stdin', 'read messages from stdin, one JSON object per line').conflicts(sampleOnly))
    .action(async (options: Options) => produce(options, await loadMergedSettings(options, io), io, open))
  return withExamples(withJsonOption(withConfigOption(command)), examples)
}

function parseTypes(text: string): readonly CallType[] {
  return text.split(',').map(name => {
    const type = callTypes.find(known => known === name.trim())
    if (type === undefined) throw new UsageError(`--type: unknown value '${name}' (possible: ${callTypes.join(', ')})`)
    return type
  })
}

async function produce(options: Options, settings: Settings, io: CommandIo, open: OpenClients): Promise<void> {
  const topic = topicNames(settings.topics.prefix).events
  const sourceId = sourceOf(settings, options.source)
  const { clock, producer, brokerTime, events, close } = open(settings, io)
  let bar: ProgressBar | undefined
  try {
    const codec = await events()
    // After this call, `clock` has the correct time, even if the clock of this machine is wrong.
    await brokerTime()
    bar = startBar(options, io)
    const onProduced = (produced: number): void => bar?.update(produced)
    const feed = createEventWriter({ codec, producer, clock, topic, sourceId, onProduced })
    const start = clock.monotonic()
    const { rejected, isInterrupted } = await (options.stdin === true
      ? feedLines(feed, clock, io)
      : feedSamples(feed, options, clock, io))
    const { produced, failed } = await feed.finish()
    bar?.stop()
    const seconds = (clock.monotonic() - start) / 1_000
    const perSecond = Math.round(produced / Math.max(seconds, 0.001))
    const line = `wrote ${countWithNoun(produced, 'message')} to ${topic} in ${seconds.toFixed(1)} s (${perSecond} per second)`
    printData(io, options, { topic, source: sourceId, produced, failed, rejected, seconds, perSecond }, [line])
    const failure = feed.failure()
    if (failure !== undefined)
      throw new CommandFailed(
        `Kafka did not acknowledge ${countWithNoun(failed, 'message')}: ${withRemedyText(failure)}`,
      )
    if (rejected > 0)
      throw new CommandFailed(`skipped ${countWithNoun(rejected, 'invalid line')} of stdin; see the reasons above`)
    if (isInterrupted) throw new CommandFailed(`interrupted after ${countWithNoun(produced, 'message')}`)
  } finally {
    bar?.stop()
    await close()
  }
}

function sourceOf({ sources }: Settings, typed: string | undefined): string {
  const ids = sources.map(({ id }) => id)
  const source = ids.find(id => typed === undefined || id === typed)
  if (source === undefined) throw new UsageError(`--source: unknown value '${typed}' (possible: ${ids.join(', ')})`)
  return source
}

interface Fed {
  readonly rejected: number
  /** Whether a signal stopped the command early. */
  readonly isInterrupted: boolean
}

async function feedSamples(feed: EventWriter, options: Options, clock: Clock, io: CommandIo): Promise<Fed> {
  const seed = options.seed ?? clock.now() % 2 ** 31
  const next = createSampleMessages({ seed, types: options.type ?? callTypes, users: options.users })
  const count = options.count ?? (options.rate === undefined ? 100 : Number.POSITIVE_INFINITY)
  const signal = io.stopSignal()
  for await (const _number of paced({ count, perSecond: options.rate }, clock, signal)) {
    const outcome = normaliseNow(next(), clock)
    if (outcome.kind === 'rejected') throw new TypeError(`invalid sample message: ${outcome.message}`)
    await feed.put(outcome.message)
    if (feed.failure() !== undefined) break
  }
  return { rejected: 0, isInterrupted: signal.aborted && count !== Number.POSITIVE_INFINITY }
}

async function feedLines(feed: EventWriter, clock: Clock, io: CommandIo): Promise<Fed> {
  const signal = io.stopSignal()
  let number = 0
  let rejected = 0
  for await (const line of createInterface({ input: io.stdin, crlfDelay: Number.POSITIVE_INFINITY, signal })) {
    number += 1
    if (line.trim() === '') continue
    const parsed = parseMessageText(line)
    const outcome = parsed.kind === 'rejected' ? parsed : normaliseNow(parsed.value, clock, parsed.addedBytes)
    if (outcome.kind === 'message') await feed.put(outcome.message)
    else {
      rejected += 1
      io.stderr.write(`stdin:${number}: ${outcome.code}: ${outcome.message}\n`)
    }
    if (feed.failure() !== undefined) break
  }
  return { rejected, isInterrupted: signal.aborted }
}

const normaliseNow = (input: unknown, clock: Clock, addedBytes?: number): Normalised | Rejection =>
  normalise(input, { receivedAt: clock.now(), sentAt: undefined, newId: () => clock.id() }, addedBytes)

function startBar({ count, json, stdin }: Options, io: CommandIo): ProgressBar | undefined {
  if (stdin === true || count === undefined) return undefined
  const format = '{bar} {percentage}% {value}/{total} messages, {eta_formatted} left'
  const bar = createProgressBar(io, { json: json === true }, format)
  bar?.start(count)
  return bar
}

const withRemedyText = (failure: Error): string =>
  'code' in failure && failure.code === 'TOPIC_MISSING'
    ? `${failure.message}; create it with: hookline topics apply`
    : failure.message
