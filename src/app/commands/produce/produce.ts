import { createInterface } from 'node:readline'
import { type Command, Option } from 'commander'
import { createEventCodec } from '../../../adapters/avro/avro.ts'
import { createRegistry } from '../../../adapters/avro/schema-registry.ts'
import { systemClock } from '../../../adapters/clock/clock.ts'
import { createKafka } from '../../../adapters/kafka/kafkajs/client.ts'
import { createProducer } from '../../../adapters/kafka/producer/producer.ts'
import { parseJson } from '../../../core/message/json.ts'
import { type CallType, callTypes, type Rejection } from '../../../core/message/message.ts'
import { type Normalised, normalise } from '../../../core/message/normalise.ts'
import type { Clock, EventCodec, LogProducer } from '../../../core/ports.ts'
import type { Settings } from '../../../core/settings/settings.ts'
import { topicNames } from '../../../core/topics.ts'
import { paced } from '../../../services/pacer.ts'
import {
  CommandFailed,
  type CommandIo,
  commandLogger,
  createCommand,
  printData,
  UsageError,
  wholeNumber,
  withConfigOption,
  withExamples,
  withJsonOption,
} from '../../command.ts'
import { loadSettings } from '../../load-settings.ts'
import { createProgressBar, type ProgressBar } from '../../terminal.ts'
import { createFeed, type Feed } from './feed.ts'
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

/** What a run of the command works with. */
export interface Outlet {
  readonly codec: EventCodec
  readonly producer: LogProducer
  readonly clock: Clock
}

type OpenOutlet = (settings: Settings, io: CommandIo) => Promise<Outlet>

const openOutlet: OpenOutlet = async (settings, io) => {
  const clock = systemClock
  const eventsTopic = topicNames(settings.topics.prefix).events
  const codec = await createEventCodec({ registry: createRegistry(settings.registry), eventsTopic, clock })
  const logger = commandLogger(io)
  return { codec, clock, producer: createProducer({ kafka: createKafka(settings.kafka, logger), clock, logger }) }
}

const description = [
  'Puts messages on the events topic, keyed and encoded as the services write them: a sample load of all call types, or with --stdin the messages that come as lines of JSON.',
  'Without --count: 100 messages, or with --rate as many until it is interrupted.',
].join('\n\n')

const examples = [
  'hookline produce --count 10000 --rate 500',
  'hookline produce --type track,identify --source web --seed 7',
  'hookline produce --rate 200                     # until interrupted',
  `echo '{"type":"track","userId":"u-1","event":"Signed Up"}' | hookline produce --stdin`,
]

/** `hookline produce`: sample load, or messages from stdin, onto the events topic. */
export function produceCommand(io: CommandIo, open: OpenOutlet = openOutlet): Command {
  const sampleOnly = ['count', 'rate', 'type', 'users', 'seed']
  const command = createCommand('produce', 'put messages on the events topic: a sample load, or lines of JSON', io)
    .description(description)
    .option('-n, --count <number>', 'how many messages (100)', wholeNumber('--count', 1))
    .option('--rate <number>', 'messages a second (as fast as Kafka takes them)', wholeNumber('--rate', 1))
    .option('--type <list>', `call types to choose from (${callTypes.join(',')})`, parseTypes)
    .option('--source <id>', 'the source that they come from (the first one configured)')
    .option('--users <number>', 'how many users they are about', wholeNumber('--users', 1), 1_000)
    .option('--seed <number>', 'make the same messages again, message ids included', wholeNumber('--seed', 0))
    .addOption(new Option('--stdin', 'read messages from stdin, a line of JSON each').conflicts(sampleOnly))
    .action(async (options: Options) => produce(options, await loadSettings(options, io), io, open))
  return withExamples(withJsonOption(withConfigOption(command)), examples)
}

function parseTypes(text: string): readonly CallType[] {
  return text.split(',').map(name => {
    const type = callTypes.find(known => known === name.trim())
    if (type === undefined) throw new UsageError(`--type: '${name}' is none of ${callTypes.join(', ')}`)
    return type
  })
}

async function produce(options: Options, settings: Settings, io: CommandIo, open: OpenOutlet): Promise<void> {
  const topic = topicNames(settings.topics.prefix).events
  const sourceId = sourceOf(settings, options.source)
  const outlet = await open(settings, io)
  const bar = startBar(options, io)
  const feed = createFeed({ ...outlet, topic, sourceId, onProduced: produced => bar?.update(produced) })
  try {
    const start = outlet.clock.monotonic()
    const { rejected, isInterrupted } = await (options.stdin === true
      ? feedLines(feed, outlet.clock, io)
      : feedSamples(feed, options, outlet.clock, io))
    const { produced, failed } = await feed.finish()
    bar?.stop()
    const seconds = (outlet.clock.monotonic() - start) / 1_000
    const perSecond = Math.round(produced / Math.max(seconds, 0.001))
    const line = `produced ${produced} messages to ${topic} in ${seconds.toFixed(1)} s (${perSecond} a second)`
    printData(io, options, { topic, source: sourceId, produced, failed, rejected, seconds, perSecond }, [line])
    const failure = feed.failure()
    if (failure !== undefined) throw new CommandFailed(`Kafka did not take ${failed} messages: ${explained(failure)}`)
    if (rejected > 0) throw new CommandFailed(`${rejected} lines are no messages`)
    if (isInterrupted) throw new CommandFailed(`interrupted after ${produced} messages`)
  } finally {
    bar?.stop()
    await outlet.producer.stop()
  }
}

function sourceOf({ sources }: Settings, asked: string | undefined): string {
  const ids = sources.map(({ id }) => id)
  const source = ids.find(id => asked === undefined || id === asked)
  if (source === undefined) throw new UsageError(`no source '${asked}' in the configuration: ${ids.join(', ')}`)
  return source
}

interface Fed {
  readonly rejected: number
  /** Before all that was asked for was put. */
  readonly isInterrupted: boolean
}

async function feedSamples(feed: Feed, options: Options, clock: Clock, io: CommandIo): Promise<Fed> {
  const seed = options.seed ?? clock.now() % 2 ** 31
  const next = createSampleMessages({ seed, types: options.type ?? callTypes, users: options.users })
  const count = options.count ?? (options.rate === undefined ? 100 : Number.POSITIVE_INFINITY)
  const signal = io.stopSignal()
  for await (const _number of paced({ count, perSecond: options.rate }, clock, signal)) {
    const outcome = normaliseNow(next(), clock)
    if (outcome.kind === 'rejected') throw new TypeError(`a sample is no message: ${outcome.message}`)
    await feed.put(outcome.message)
    if (feed.failure() !== undefined) break
  }
  return { rejected: 0, isInterrupted: signal.aborted && count !== Number.POSITIVE_INFINITY }
}

async function feedLines(feed: Feed, clock: Clock, io: CommandIo): Promise<Fed> {
  const signal = io.stopSignal()
  let number = 0
  let rejected = 0
  for await (const line of createInterface({ input: io.stdin, crlfDelay: Number.POSITIVE_INFINITY, signal })) {
    number += 1
    if (line.trim() === '') continue
    const parsed = parseJson(line)
    const outcome = parsed.kind === 'rejected' ? parsed : normaliseNow(parsed.value, clock)
    if (outcome.kind === 'message') await feed.put(outcome.message)
    else {
      rejected += 1
      io.stderr.write(`stdin:${number}: ${outcome.code}: ${outcome.message}\n`)
    }
    if (feed.failure() !== undefined) break
  }
  return { rejected, isInterrupted: signal.aborted }
}

const normaliseNow = (input: unknown, clock: Clock): Normalised | Rejection =>
  normalise(input, { receivedAt: clock.now(), sentAt: undefined, newId: () => clock.id() })

/** When it is known how many there will be. */
function startBar({ count, json, stdin }: Options, io: CommandIo): ProgressBar | undefined {
  if (stdin === true || count === undefined) return undefined
  const format = '{bar} {percentage}% {value}/{total} messages, {eta_formatted} left'
  const bar = createProgressBar(io, { json: json === true }, format)
  bar?.start(count)
  return bar
}

const explained = (failure: Error): string =>
  'code' in failure && failure.code === 'TOPIC_MISSING' ? `${failure.message}: hookline topics apply` : failure.message
