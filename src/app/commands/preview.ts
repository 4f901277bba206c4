import { text as readText } from 'node:stream/consumers'
import type { Command } from 'commander'
import { systemClock } from '../../adapters/clock/clock.ts'
import { bodyOf } from '../../core/delivery/payload.ts'
import { callsOf } from '../../core/delivery/request.ts'
import { createRouting, route } from '../../core/delivery/route.ts'
import { withheld } from '../../core/logging/log-text.ts'
import type { Event } from '../../core/message/event.ts'
import { parseJson } from '../../core/message/json.ts'
import type { Rejection } from '../../core/message/message.ts'
import { type Normalised, normalise } from '../../core/message/normalise.ts'
import type { Clock, WebhookCall } from '../../core/ports.ts'
import type { Destination, Settings } from '../../core/settings/settings.ts'
import { type JsonText, Secret } from '../../core/units.ts'
import {
  CommandFailed,
  type CommandIo,
  createCommand,
  printData,
  UsageError,
  withConfigOption,
  withExamples,
  withJsonOption,
} from '../command.ts'
import { readSettings } from '../load-settings.ts'
import { choice } from '../options.ts'

interface Options {
  readonly config?: string
  readonly destination?: string
  readonly source?: string
  readonly showSecrets?: boolean
  readonly json?: boolean
}

/** One POST as a webhook would get it. */
interface Preview extends Pick<WebhookCall, 'url' | 'headers'> {
  readonly destination: string
  /** The webhook's label. */
  readonly webhook: string
  readonly body: JsonText
}

const description = [
  'Reads a message as JSON on stdin, as an SDK would send it, and shows each request that it would become: exact headers, signature and body. Nothing is sent and no network is used.',
  'The output is a file of HTTP requests as editors know it (.http). Header values and URLs that come from files are shown as ***, unless --show-secrets is given. Static headers in the configuration itself are shown as they are.',
  'Exits with 1, and says why, when the message is not taken or nobody would get it.',
].join('\n\n')

const examples = [
  'echo \'{"type":"track","userId":"u1","event":"Signed up"}\' | hookline preview',
  'hookline preview --source web --destination crm < message.json',
  "hookline preview --json < message.json | jq -r '.[0].body'",
]

/** `hookline preview` */
export function previewCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const command = createCommand('preview', 'show the requests that a message would become', io).description(description)
  withJsonOption(withConfigOption(command))
    .option('--source <id>', 'the source that sends it; needed when more than one is configured')
    .option('--destination <id>', 'for this destination only')
    .option('--show-secrets', 'show header values and URLs that come from files')
    .action((options: Options) => run(options, io, clock))
  return withExamples(command, examples)
}

async function run(options: Options, io: CommandIo, clock: Clock): Promise<void> {
  const settings = await readSettings(options, io, new Set(['dispatcher']))
  const sourceId = sourceOf(options, settings)
  const destinations = destinationsOf(options, settings, sourceId)
  const { message, droppedKeys } = await readMessage(io, clock)
  const note = (line: string): boolean => io.stderr.write(`hookline: ${line}\n`)
  if (droppedKeys > 0) note(`left out: ${droppedKeys} '__proto__' key${droppedKeys === 1 ? '' : 's'}`)

  const receivedAt = clock.now()
  const event: Event = { sourceId, destinationId: undefined, receivedAt, canonical: true, origin: undefined, message }
  const previews: Preview[] = []
  const refusals: string[] = []
  for (const destination of destinations) {
    const refusal = refusalOf(destination, event, settings)
    if (refusal !== undefined) refusals.push(refusal)
    else
      previews.push(
        ...previewsOf(destination, event, settings, clock).map(
          options.showSecrets === true ? each => each : maskedBy(destination),
        ),
      )
    if (refusal === undefined && destination.paused) note(`'${destination.id}' is paused: its requests would wait`)
  }
  if (previews.length === 0) throw new CommandFailed(refusals.join('; '))
  for (const refusal of refusals) note(refusal)
  printData(io, options, previews, previews.flatMap(linesOf))
}

async function readMessage(io: CommandIo, clock: Clock): Promise<Normalised> {
  const text = io.stdin.isTTY === true ? '' : await readText(io.stdin)
  if (text.trim() === '') throw new UsageError('give a message as JSON on stdin: hookline preview < message.json')
  const parsed = taken(parseJson(text))
  const reception = { receivedAt: clock.now(), sentAt: undefined, newId: () => clock.id() }
  return taken(normalise(parsed.value, reception))
}

/** What is not taken has its code in front, as the collector and dead letters have it. */
function taken<T extends { readonly kind: string }>(outcome: T | Rejection): T {
  if (isRejection(outcome)) throw new CommandFailed(`${outcome.code}: ${outcome.message}`)
  return outcome
}

const isRejection = (outcome: { readonly kind: string }): outcome is Rejection => outcome.kind === 'rejected'

function sourceOf({ source }: Options, { sources }: Settings): string {
  const ids = sources.map(({ id }) => id)
  if (source !== undefined) return choice('--source', source, ids)
  const [only, ...others] = ids
  if (only === undefined || others.length > 0) throw new UsageError(`give --source: one of ${ids.join(', ')}`)
  return only
}

/** The named one, else all that the source is connected to. */
function destinationsOf(options: Options, settings: Settings, sourceId: string): readonly Destination[] {
  const ids = settings.destinations.map(({ id }) => id)
  const named = options.destination && choice('--destination', options.destination, ids)
  if (named !== undefined) return settings.destinations.filter(({ id }) => id === named)
  const connected = settings.destinations.filter(({ sources }) => sources.includes(sourceId))
  if (connected.length === 0)
    throw new CommandFailed(`no_destination: no destination is connected to source '${sourceId}'`)
  return connected
}

/** Why a destination would not get the event: reason and text. Undefined: it would. */
function refusalOf(destination: Destination, event: Event, settings: Settings): string | undefined {
  const { id } = destination
  if (destination.isHeld === true) return `held: '${id}' waits until its file in destinationsFrom is mended`
  const routed = route({ ...event, destinationId: id }, createRouting(settings))
  const reason = routed.kind === 'deliver' ? routed.drops[0]?.reason : routed.reason
  switch (reason) {
    case undefined:
      return undefined
    case 'disabled':
      return `disabled: '${id}' would not get it, it has enabled: false`
    case 'not_selected':
      return `not_selected: '${id}' would not get it, the message's integrations switch it off`
    case 'no_destination':
      return `no_destination: '${id}' would not get it, it is not connected to source '${event.sourceId}'`
    default:
      return `${reason}: '${id}' would not get it`
  }
}

function previewsOf(destination: Destination, event: Event, settings: Settings, clock: Clock): readonly Preview[] {
  const { webhooks } = destination
  const { payload } = settings
  const { message } = event
  const body = bodyOf(message, payload)
  const { messageId } = message
  const calls = callsOf({ destination, webhooks, body: Buffer.from(body), messageId, at: clock.now(), payload })
  return calls.map(({ url, headers }, index) => ({
    destination: destination.id,
    webhook: webhooks[index]?.label ?? String(index),
    url,
    // The last three are HTTP's own: Node adds them when it sends.
    headers: {
      ...headers,
      Host: new URL(url).host,
      'Content-Length': String(Buffer.byteLength(body)),
      Connection: 'keep-alive',
    },
    body,
  }))
}

/** A preview without values from files: a URL keeps its origin, a header its name. */
const maskedBy =
  ({ webhooks }: Destination) =>
  (preview: Preview): Preview => {
    const { url, headers } = webhooks.find(({ label }) => label === preview.webhook) ?? {}
    const shown = Object.entries(preview.headers).map(([name, value]) => [
      name,
      headers?.[name] instanceof Secret ? withheld : value,
    ])
    return {
      ...preview,
      url: url instanceof Secret ? `${new URL(preview.url).origin}/${withheld}` : preview.url,
      headers: Object.fromEntries(shown),
    }
  }

function linesOf({ destination, webhook, url, headers, body }: Preview): readonly string[] {
  const heading = `### ${destination}, webhook ${webhook}`
  return [heading, `POST ${url}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), '', body, '']
}
