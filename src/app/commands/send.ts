import { text as readText } from 'node:stream/consumers'
import { Argument, type Command } from 'commander'
import { Analytics } from '../../../packages/client/src/analytics.ts'
import { ConfigError, FieldError, MessageTooLarge } from '../../../packages/client/src/errors.ts'
import type { Failure } from '../../../packages/client/src/failure.ts'
import { isObject, type JsonObject } from '../../core/message/json.ts'
import { type CallType, callTypes } from '../../core/message/message.ts'
import { parseField, parseMessageText } from '../../core/message/parse-message-json.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { CommandFailed, type CommandIo, createCommand, printData, UsageError, withExamples } from '../create-command.ts'
import { readSettings } from '../load-settings.ts'
import { choice, onlyFileNote, wholeNumber, withConfigOption, withJsonOption } from '../options.ts'
import { printable } from '../terminal-table-and-progress-bar.ts'

/** Options that set a text field of the message. */
const textFields = {
  userId: 'id of the user',
  anonymousId: 'id of a visitor whose user id is unknown',
  event: 'name of the event, for the type "track"',
  groupId: 'id of the group, for the type "group"',
  previousId: 'previous id of the user, for the type "alias"',
  name: 'name of the page or screen, for the types "page" and "screen"',
  category: 'category of the page or screen, for the types "page" and "screen"',
  timestamp: 'time of the event in ISO 8601 (default: now)',
  messageId: 'message id, by which receivers detect duplicates (default: a new id)',
} as const
/** Options that set an object field of the message, as JSON. */
const objectFields = ['properties', 'traits', 'context', 'integrations'] as const

type Fields = { readonly [name in keyof typeof textFields | (typeof objectFields)[number]]?: string }

interface Options extends Fields {
  readonly config?: string
  readonly json?: boolean
  readonly message?: string
  readonly source?: string
  readonly writeKey?: string
  readonly endpoint?: string
  readonly retries: number
}

const description = [
  'Sends one message to the collector, as the client library does. Give a message type with options, or the complete message as JSON in --message or on stdin.',
  'The command takes the write key and the address of the collector from the configuration file. With --write-key and --endpoint the command needs no configuration file. For a source that was created through the operator API, use --write-key.',
  'If the collector does not accept the message, or cannot be reached, the command prints the reason, and the exit code is 1.',
].join('\n\n')

const examples = [
  `hookline send track --user-id u-17 --event 'Order Completed' --properties '{"total":39.9}'`,
  `hookline send identify --user-id u-17 --traits '{"plan":"pro"}' --source server`,
  `echo '{"type":"page","userId":"u-17","name":"Pricing"}' | hookline send`,
  'hookline send page --anonymous-id a-1 --write-key KEY --endpoint https://events.example.com',
]

/** `hookline send` */
export function sendCommand(io: CommandIo): Command {
  const command = createCommand('send', 'send one message to the collector', io).description(description)
  command.addArgument(
    new Argument(
      '[type]',
      `message type: ${callTypes.join(', ')} (default: read a complete message from --message or stdin)`,
    ),
  )
  for (const [name, meaning] of Object.entries(textFields)) command.option(`${flagOf(name)} <text>`, meaning)
  for (const name of objectFields)
    command.option(`${flagOf(name)} <json>`, `field "${name}" of the message, as a JSON object`)
  command
    .option('--message <json>', 'complete message as JSON (default: read from stdin)')
    .option('--source <id>', 'source whose write key is used (default: the first source in the configuration)')
    .option(
      '--write-key <key>',
      'write key to use instead of one from the configuration; cannot be combined with --source',
    )
    .option('--endpoint <url>', 'URL of the collector (default: collector.listen of the configuration)')
    .option(
      '--retries <number>',
      'retry at most this number of times after a temporary failure',
      wholeNumber('--retries', 0),
      0,
    )
    .action((type: string | undefined, options: Options) => send(type, options, io))
  return withExamples(withJsonOption(withConfigOption(command)), examples)
}

const flagOf = (name: string): string => `--${name.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`

async function send(typed: string | undefined, options: Options, io: CommandIo): Promise<void> {
  const { writeKey, endpoint } = await targetOf(options, io)
  const { type, ...call } = await messageOf(typed, options, io)
  let messageIds: readonly string[] = []
  let failure: Failure | undefined
  const analytics = withUsageErrors(
    () =>
      new Analytics(writeKey, {
        endpoint,
        size: 1,
        maxRetries: options.retries,
        onSent: ids => {
          messageIds = ids
        },
        onFailure: failed => {
          failure = failed
          messageIds = failed.messageIds
        },
      }),
  )
  withUsageErrors(() => void (analytics[type] as (call: unknown) => Promise<void>).call(analytics, call))
  await analytics.close()

  const [messageId = ''] = messageIds
  const facts = { type, messageId, endpoint }
  if (failure === undefined) {
    const line = `sent ${type} ${printable(messageId)}: accepted by ${endpoint}`
    return printData(io, options, { ...facts, result: 'sent' }, [line])
  }
  const { reason, code, detail } = failure
  if (options.json === true) printData(io, options, { ...facts, result: 'failed', reason, code, detail }, [])
  const isNotRetried = reason === 'retries_exhausted' && options.retries === 0
  const cause = isNotRetried ? 'not retried, because --retries is 0' : reason
  throw new CommandFailed(`sending failed with ${printable(code)} (${cause}): ${printable(detail)}`)
}

/** Converts the argument errors of the client library to errors of the command. */
function withUsageErrors<T>(use: () => T): T {
  try {
    return use()
  } catch (error) {
    if (error instanceof ConfigError) throw new UsageError(error.message)
    if (error instanceof FieldError || error instanceof MessageTooLarge)
      throw new CommandFailed(`${error.code}: ${error.message}`)
    throw error
  }
}

interface Target {
  readonly writeKey: string
  readonly endpoint: string
}

async function targetOf(options: Options, io: CommandIo): Promise<Target> {
  const { writeKey, endpoint, source } = options
  if (writeKey !== undefined && source !== undefined)
    throw new UsageError('--source cannot be combined with --write-key')
  if (writeKey !== undefined && endpoint !== undefined) return { writeKey, endpoint }
  const settings = await readSettings(options, io, new Set(['collector']))
  return { writeKey: writeKey ?? writeKeyOf(settings, source), endpoint: endpoint ?? endpointOf(settings) }
}

function writeKeyOf(settings: Settings, typed: string | undefined): string {
  const { sources } = settings
  const ids = sources.map(({ id }) => id)
  const id = typed === undefined ? ids[0] : choice('--source', typed, ids, onlyFileNote(settings))
  const source = sources.find(each => each.id === id)
  if (source === undefined) throw new UsageError('the configuration file has no source: use --write-key')
  return source.writeKeys[0]!.reveal()
}

function endpointOf({ collector: { listen } }: Settings): string {
  const { host, port } = listen
  if (port === 0)
    throw new UsageError('collector.listen has port 0 (any free port), so the actual port is unknown: use --endpoint')
  // A server that listens on every address also listens on the loopback address.
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}

type TypedMessage = JsonObject & { readonly type: CallType }

async function messageOf(typed: string | undefined, options: Options, io: CommandIo): Promise<TypedMessage> {
  const fields = [...Object.keys(textFields), ...objectFields] as (keyof Fields)[]
  const given = fields.filter(name => options[name] !== undefined)
  if (typed !== undefined) {
    if (options.message !== undefined) throw new UsageError('a message type cannot be combined with --message')
    return { ...fieldsOf(given, options), type: choice('message type', typed, callTypes) }
  }
  if (given[0] !== undefined)
    throw new UsageError(`${flagOf(given[0])} needs a message type: hookline send <type> ${flagOf(given[0])} …`)
  return wholeMessage(options.message ?? (await readStdin(io)))
}

function fieldsOf(given: readonly (keyof Fields)[], options: Options): JsonObject {
  const isText = (name: string): boolean => Object.hasOwn(textFields, name)
  return Object.fromEntries(
    given.map(name => [name, isText(name) ? options[name] : parsed(options[name] ?? '', flagOf(name))]),
  )
}

function parsed(text: string, option: string): unknown {
  const outcome = parseField(text, option)
  if (outcome.kind === 'rejected') throw new UsageError(outcome.message)
  return outcome.value
}

async function readStdin({ stdin }: CommandIo): Promise<string> {
  const text = stdin.isTTY === true ? '' : await readText(stdin)
  if (text.trim() === '')
    throw new UsageError(
      'no message is given: use a message type with options, --message, or JSON on stdin; see: hookline help send',
    )
  return text
}

function wholeMessage(text: string): TypedMessage {
  const outcome = parseMessageText(text)
  if (outcome.kind === 'rejected') throw new CommandFailed(`${outcome.code}: ${outcome.message}`)
  if (!isObject(outcome.value))
    throw new CommandFailed('not_an_object: A message must be a JSON object: send { "type": …, … }.')
  const type = callTypes.find(known => known === (outcome.value as JsonObject)['type'])
  if (type === undefined) throw new CommandFailed(`unknown_type: 'type' must be one of ${callTypes.join(', ')}.`)
  return { ...outcome.value, type }
}
