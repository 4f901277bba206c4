import type { Command } from 'commander'
import { createEventCodec } from '../../adapters/avro/event-codec.ts'
import { createRegistry, RegistryUnavailable } from '../../adapters/avro/schema-registry.ts'
import { SchemaNotRegistered } from '../../adapters/avro/schema-texts-and-subject-names.ts'
import { processClock as clock } from '../../adapters/clock/process-clock.ts'
import { createKafka } from '../../adapters/kafka/kafkajs/client.ts'
import { createReader } from '../../adapters/kafka/log/topic-reader.ts'
import { createLogger } from '../../adapters/logger-and-audit-log.ts'
import type { EventCodec, TopicReader } from '../../core/ports.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { topicNames } from '../../core/topics.ts'
import { createReadEvent, listDeadLetters } from '../../services/operator/visit-and-list-dead-letters.ts'
import { type CommandIo, createCommand, print, withExamples, withRemedy } from '../create-command.ts'
import { type FilterOptions, filterOf, withFilterOptions } from '../dead-letter-filter-options.ts'
import { countsOf, deadLetterTitles, documentOf, rowOf } from '../dead-letter-output.ts'
import { listByApi } from '../list-dead-letters-by-api.ts'
import { loadSettings } from '../load-settings.ts'
import {
  type OperatorOptions,
  operatorApiUse,
  usesOperatorApi,
  withOperatorOptions,
} from '../operator-api-options-and-clients.ts'
import { wholeNumber, withConfigOption } from '../options.ts'
import { tableOf } from '../terminal-table-and-progress-bar.ts'

interface Options extends FilterOptions, OperatorOptions {
  readonly config?: string
  readonly limit?: number
}

export interface DeadLetterSource {
  readonly reader: TopicReader
  /**
   * Rejects when the schema registry is unavailable or lacks a schema. Dead letters are then shown
   * without their events.
   */
  codec(): Promise<EventCodec>
}

const operatorUrlText =
  'read the dead letters through the operator API at this URL (default without --config: the value of HOOKLINE_OPERATOR_URL)'

const description = [
  'Lists the dead letters (permanently failed deliveries) that match all filters and were not replayed yet, oldest first.',
  'Columns: TIME is the time of the permanent failure. OUTCOMES has the outcome of each webhook. ORIGIN is the topic, partition and offset of the event. KEY is the key of the dead letter in the operator API.',
  'The last line, on stderr, counts the dead letters that match the filters, by reason. With the operator API, it counts only the dead letters shown.',
  `${operatorApiUse} With the operator API, the command needs an operator key, but no configuration file and no access to Kafka. Without the operator API, the command itself reads the dead letters from Kafka.`,
  'With --json, each dead letter is one JSON line with all fields. The line has the event only if the command reads the dead letters from Kafka, not through the operator API. The line never contains HTTP requests or secrets.',
].join('\n\n')

const examples = [
  'hookline dead-letters --since 2h',
  'hookline dead-letters --destination crm --reason retries_exhausted',
  'hookline dead-letters --outcome tls_untrusted --limit 20',
  'hookline dead-letters --json | jq -r \'select(.event.message.type == "identify") | .messageId\'',
]

/** `hookline dead-letters` */
export function deadLettersCommand(
  io: CommandIo,
  open: (settings: Settings) => DeadLetterSource = openSource,
): Command {
  const command = createCommand(
    'dead-letters',
    'list the dead letters: deliveries that failed permanently and were not replayed',
    io,
  ).description(description)
  withOperatorOptions(withFilterOptions(withConfigOption(command), clock.now()), operatorUrlText)
    .option(
      '--limit <n>',
      'show only the n newest dead letters, sorted from oldest to newest (default: all)',
      wholeNumber('--limit', 1),
    )
    .option('--json', 'print one JSON line for each dead letter')
    .action(async (options: Options) => run(options, io, open))
  return withExamples(command, examples)
}

async function run(options: Options, io: CommandIo, open: (settings: Settings) => DeadLetterSource): Promise<void> {
  const filter = filterOf(options)
  if (usesOperatorApi(options, io)) return listByApi(filter, options, io)
  const settings = await loadSettings(options, io)
  const source = open(settings)
  const unavailable = (error: unknown): unknown =>
    io.stderr.write(
      `hookline: some or all dead letters are listed without their event, because Hookline could not decode events: ${(error as Error).message}\n`,
    )
  const codec = await source.codec().catch(error => {
    if (!(error instanceof RegistryUnavailable || error instanceof SchemaNotRegistered)) throw error
    unavailable(error)
  })
  const readEvent = codec ? createReadEvent(codec, unavailable) : async () => undefined
  const topic = topicNames(settings.topics.prefix).deadLetter
  const deps = { reader: source.reader, topic, readEvent }
  const list = await listDeadLetters(deps, filter, options.limit).catch(error => {
    throw withRemedy(error)
  })
  if (options.json === true) {
    for (const deadLetter of list.deadLetters) print(io, JSON.stringify(documentOf(deadLetter)))
  } else if (list.deadLetters.length > 0) {
    print(io, tableOf(deadLetterTitles, list.deadLetters.map(rowOf)).join('\n'))
  }
  io.stderr.write(`${countsOf(list)}\n`)
}

function openSource(settings: Settings): DeadLetterSource {
  const logger = createLogger('error')
  const eventsTopic = topicNames(settings.topics.prefix).events
  return {
    reader: createReader({ kafka: createKafka(settings.kafka, logger), clock, logger }),
    codec: () => createEventCodec({ registry: createRegistry(settings.registry), eventsTopic, clock }),
  }
}
