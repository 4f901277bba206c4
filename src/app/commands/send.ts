import { text as readText } from 'node:stream/consumers'
import { Argument, type Command } from 'commander'
import { Analytics } from '../../../packages/client/src/analytics.ts'
import { ConfigError, FieldError, MessageTooLarge } from '../../../packages/client/src/errors.ts'
import type { Failure } from '../../../packages/client/src/failure.ts'
import { isObject, type JsonObject, parseField, parseJson } from '../../core/message/json.ts'
import { type CallType, callTypes } from '../../core/message/message.ts'
import type { Settings } from '../../core/settings/settings.ts'
import {
  CommandFailed,
  type CommandIo,
  createCommand,
  printData,
  UsageError,
  wholeNumber,
  withConfigOption,
  withExamples,
  withJsonOption,
} from '../command.ts'
import { readSettings } from '../load-settings.ts'
import { choice } from '../options.ts'
import { printable } from '../terminal.ts'

/** Options that are members of the message: as text, … */
const textFields = {
  userId: 'whom it is about',
  anonymousId: 'whom it is about, as long as nobody knows',
  event: 'track: what happened',
  groupId: 'group: which one',
  previousId: 'alias: the id until now',
  name: 'page, screen: its name',
  category: 'page, screen: its category',
  timestamp: 'when it happened (now)',
  messageId: 'its id (a new one)',
} as const
/** … and as JSON. */
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
  'Sends one message to the collector, as the client library does: a call type with options, or a whole message as JSON, with --message or on stdin.',
  'The write key is that of a source of the configuration, and the collector is looked for where the configuration lets it listen; with --write-key and --endpoint no configuration is needed.',
  'Exits with 1, and says what the collector answered, when the message was not taken.',
].join('\n\n')

const examples = [
  `hookline send track --user-id u-17 --event 'Order Completed' --properties '{"total":39.9}'`,
  `hookline send identify --user-id u-17 --traits '{"plan":"pro"}' --source server`,
  `echo '{"type":"page","userId":"u-17","name":"Pricing"}' | hookline send`,
  'hookline send page --anonymous-id a-1 --write-key KEY --endpoint https://events.example.com',
]

/** `hookline send` */
export function sendCommand(io: CommandIo): Command {
  const command = createCommand('send', 'send one message through the collector', io).description(description)
  command.addArgument(new Argument('[type]', `${callTypes.join(', ')}; without it a whole message is read`))
  for (const [name, meaning] of Object.entries(textFields)) command.option(`${flagOf(name)} <text>`, meaning)
  for (const name of objectFields) command.option(`${flagOf(name)} <json>`, 'an object')
  command
    .option('--message <json>', 'the whole message, instead of stdin')
    .option('--source <id>', 'the source that sends it (the first one configured)')
    .option('--write-key <key>', 'the write key itself, instead of a source')
    .option('--endpoint <url>', "the collector's URL (where the configuration lets it listen)")
    .option('--retries <number>', 'how often to try again what may work later', wholeNumber('--retries', 0), 0)
    .action((type: string | undefined, options: Options) => send(type, options, io))
  return withExamples(withJsonOption(withConfigOption(command)), examples)
}

const flagOf = (name: string): string => `--${name.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`

async function send(typed: string | undefined, options: Options, io: CommandIo): Promise<void> {
  const { writeKey, endpoint } = await targetOf(options, io)
  const { type, ...call } = await messageOf(typed, options, io)
  let messageIds: readonly string[] = []
  let failure: Failure | undefined
  const analytics = usable(
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
  usable(() => void (analytics[type] as (call: unknown) => Promise<void>).call(analytics, call))
  await analytics.close()

  const [messageId = ''] = messageIds
  const told = { type, messageId, endpoint }
  if (failure === undefined) {
    const line = `sent ${type} ${printable(messageId)}: ${endpoint} has taken it`
    return printData(io, options, { ...told, result: 'sent' }, [line])
  }
  const { reason, code, detail } = failure
  if (options.json === true) printData(io, options, { ...told, result: 'failed', reason, code, detail }, [])
  throw new CommandFailed(`not taken, ${reason} (${printable(code)}): ${printable(detail)}`)
}

/** What the library says against its arguments: settings were typed wrong, a message is no message. */
function usable<T>(use: () => T): T {
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
  if (writeKey !== undefined && source !== undefined) throw new UsageError('give --source or --write-key, not both')
  if (writeKey !== undefined && endpoint !== undefined) return { writeKey, endpoint }
  const settings = await readSettings(options, io, new Set(['collector']))
  return { writeKey: writeKey ?? writeKeyOf(settings, source), endpoint: endpoint ?? endpointOf(settings) }
}

function writeKeyOf({ sources }: Settings, asked: string | undefined): string {
  const ids = sources.map(({ id }) => id)
  const id = asked === undefined ? ids[0] : choice('--source', asked, ids)
  const source = sources.find(each => each.id === id)
  if (source === undefined) throw new UsageError('no source is configured: give --write-key')
  return source.writeKeys[0]!.reveal()
}

function endpointOf({ collector: { listen } }: Settings): string {
  const { host, port } = listen
  if (port === 0) throw new UsageError('collector.listen has port 0, which is any free one: give --endpoint')
  // What listens on every address listens on this machine's own.
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}

type TypedMessage = JsonObject & { readonly type: CallType }

async function messageOf(typed: string | undefined, options: Options, io: CommandIo): Promise<TypedMessage> {
  const fields = [...Object.keys(textFields), ...objectFields] as (keyof Fields)[]
  const given = fields.filter(name => options[name] !== undefined)
  if (typed !== undefined) {
    if (options.message !== undefined) throw new UsageError('give a type with options, or --message, not both')
    return { ...fieldsOf(given, options), type: choice('type', typed, callTypes) }
  }
  if (given[0] !== undefined)
    throw new UsageError(`${flagOf(given[0])} needs a type: hookline send track ${flagOf(given[0])} …`)
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
    throw new UsageError("give a type with options, --message, or a message as JSON on stdin: see 'hookline help send'")
  return text
}

function wholeMessage(text: string): TypedMessage {
  const outcome = parseJson(text)
  if (outcome.kind === 'rejected') throw new CommandFailed(`${outcome.code}: ${outcome.message}`)
  if (!isObject(outcome.value)) throw new CommandFailed('not_an_object: A message must be a JSON object.')
  const type = callTypes.find(known => known === (outcome.value as JsonObject)['type'])
  if (type === undefined) throw new CommandFailed(`unknown_type: 'type' must be one of ${callTypes.join(', ')}.`)
  return { ...outcome.value, type }
}
