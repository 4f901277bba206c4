import { text as readText } from 'node:stream/consumers'
import type { Command } from 'commander'
import { systemClock } from '../../adapters/clock/system-clock.ts'
import { countWithNoun } from '../../core/count-with-noun.ts'
import { bodyOf } from '../../core/delivery/payload.ts'
import { requestsOf } from '../../core/delivery/request.ts'
import { createRouting, route } from '../../core/delivery/route.ts'
import type { Event } from '../../core/message/event.ts'
import { parseJson } from '../../core/message/json.ts'
import type { JsonText } from '../../core/message/json-text.ts'
import type { Rejection } from '../../core/message/message.ts'
import { type Normalised, normalise } from '../../core/message/normalise.ts'
import type { Clock } from '../../core/ports.ts'
import { mask, Secret } from '../../core/secret.ts'
import { formatPath, type Path, valueAt } from '../../core/settings/problem.ts'
import type { Destination, Settings } from '../../core/settings/settings.ts'
import type { WebhookCall } from '../../core/webhook-ports.ts'
import { CommandFailed, type CommandIo, createCommand, printData, UsageError, withExamples } from '../command.ts'
import { readSettings } from '../load-settings.ts'
import { choice, onlyFileNote, withConfigOption, withJsonOption } from '../options.ts'

interface Options {
  readonly config?: string
  readonly destination?: string
  readonly source?: string
  readonly showSecrets?: boolean
  readonly json?: boolean
}

/** One POST request as the endpoint of a webhook would receive it. */
interface Preview extends Pick<WebhookCall, 'url' | 'headers'> {
  readonly destination: string
  /** The label of the webhook. */
  readonly webhook: string
  readonly body: JsonText
}

const description = [
  'Reads a message as JSON from stdin, in the form in which an SDK sends it. Shows each webhook request that Hookline would send for the message, with headers, signature and body. The command sends nothing and uses no network, so it does not know the destinations and sources that were created through the operator API.',
  'The output is an .http file that editors can open. Without --show-secrets, header values and URLs that the configuration reads from other files (with "file" or "urlFile") are masked with ***. Values that the configuration itself contains are always shown.',
  'If the message is invalid, or no destination would get it, the command prints the reason, and the exit code is 1.',
].join('\n\n')

const examples = [
  'echo \'{"type":"track","userId":"u1","event":"Signed up"}\' | hookline preview',
  'hookline preview --source web --destination crm < message.json',
  "hookline preview --json < message.json | jq -r '.[0].body'",
]

/** `hookline preview` */
export function previewCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const command = createCommand(
    'preview',
    'show the webhook requests for a message without sending them',
    io,
  ).description(description)
  withJsonOption(withConfigOption(command))
    .option('--source <id>', 'source of the message; required if the configuration file has several sources')
    .option('--destination <id>', 'show only requests to this destination (default: all destinations of the source)')
    .option(
      '--show-secrets',
      'show header values and URLs that the configuration reads from other files (with "file" or "urlFile"); without this option, they are masked',
    )
    .action((options: Options) => run(options, io, clock))
  return withExamples(command, examples)
}

async function run(options: Options, io: CommandIo, clock: Clock): Promise<void> {
  const settings = await readSettings(options, io, new Set(['dispatcher']))
  const sourceId = sourceOf(options, settings)
  const destinations = destinationsOf(options, settings, sourceId)
  const { message, droppedKeys } = await readMessage(io, clock)
  const note = (line: string): boolean => io.stderr.write(`hookline: ${line}\n`)
  if (droppedKeys > 0)
    note(
      `the message has ${countWithNoun(droppedKeys, 'key')} named "__proto__"; the requests do not contain keys of this name, because Hookline removes them from every message`,
    )

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
    if (refusal === undefined && destination.paused)
      note(
        `destination '${destination.id}' is paused: its requests would wait in a retry topic until you resume the destination`,
      )
  }
  if (previews.length === 0) throw new CommandFailed(refusals.join('; '))
  for (const refusal of refusals) note(refusal)
  printData(io, options, previews, previews.flatMap(linesOf))
}

async function readMessage(io: CommandIo, clock: Clock): Promise<Normalised> {
  const text = io.stdin.isTTY === true ? '' : await readText(io.stdin)
  if (text.trim() === '')
    throw new UsageError('stdin has no message; send one as JSON: hookline preview < message.json')
  const parsed = accepted(parseJson(text))
  const reception = { receivedAt: clock.now(), sentAt: undefined, newId: () => clock.id() }
  return accepted(normalise(parsed.value, reception, parsed.addedBytes))
}

/** Returns the outcome. @throws CommandFailed with the rejection code if it is a rejection */
function accepted<T extends { readonly kind: string }>(outcome: T | Rejection): T {
  if (isRejection(outcome)) throw new CommandFailed(`${outcome.code}: ${outcome.message}`)
  return outcome
}

const isRejection = (outcome: { readonly kind: string }): outcome is Rejection => outcome.kind === 'rejected'

function sourceOf({ source }: Options, settings: Settings): string {
  const ids = settings.sources.map(({ id }) => id)
  if (source !== undefined) return choice('--source', source, ids, onlyFileNote(settings))
  const [only, ...others] = ids
  if (only === undefined || others.length > 0)
    throw new UsageError(
      `the source of the message is unknown: name it with --source; the configuration file has these sources: ${ids.join(', ') || 'none'}`,
    )
  return only
}

/** The destination that `--destination` names, or all destinations of the source. */
function destinationsOf(options: Options, settings: Settings, sourceId: string): readonly Destination[] {
  const ids = settings.destinations.map(({ id }) => id)
  const named = options.destination && choice('--destination', options.destination, ids, onlyFileNote(settings))
  if (named !== undefined) return settings.destinations.filter(({ id }) => id === named)
  const connected = settings.destinations.filter(({ sources }) => sources.includes(sourceId))
  if (connected.length === 0)
    throw new CommandFailed(
      `no_destination: no destination is connected to source '${sourceId}': add this source to the list 'sources' of a destination`,
    )
  return connected
}

/**
 * Returns the reason code and a text that say why a destination would not get the event.
 * `undefined` if the destination would get the event.
 */
function refusalOf(destination: Destination, event: Event, settings: Settings): string | undefined {
  const { id } = destination
  if (destination.isHeld === true)
    return `held: the file of destination '${id}' in destinationsFrom is missing or not valid; its messages wait until you correct the file`
  const routed = route({ ...event, destinationId: id }, createRouting(settings))
  const drop = routed.kind === 'deliver' ? routed.drops[0] : undefined
  const reason = routed.kind === 'deliver' ? drop?.reason : routed.reason
  switch (reason) {
    case undefined:
      return undefined
    case 'disabled':
      return `disabled: destination '${id}' would not get the message, because its key 'enabled' is false`
    case 'not_selected':
      return `not_selected: the field 'integrations' of the message excludes destination '${id}'`
    case 'filtered':
      return `filtered: the rule ${ruleText(destination, drop?.rule ?? [])} of destination '${id}' excludes the message`
    case 'no_destination':
      return `no_destination: destination '${id}' is not connected to source '${event.sourceId}'`
    default:
      return `${reason}: destination '${id}' would not get the message`
  }
}

/** Names a rule of the destination's filter, with its value. */
const ruleText = ({ filter }: Destination, rule: Path): string =>
  `${formatPath(['filter', ...rule])} = ${JSON.stringify(valueAt(filter, rule))}`

function previewsOf(destination: Destination, event: Event, settings: Settings, clock: Clock): readonly Preview[] {
  const { webhooks } = destination
  const { payload } = settings
  const { message } = event
  const body = bodyOf(message, payload)
  const { messageId } = message
  const calls = requestsOf({ destination, webhooks, body: Buffer.from(body), messageId, at: clock.now(), payload })
  return calls.map(({ url, headers }, index) => ({
    destination: destination.id,
    webhook: webhooks[index]?.label ?? String(index),
    url,
    // Host, Content-Length and Connection are added here, because the preview shows all headers
    // that the endpoint receives. For a delivery, the HTTP client adds these three.
    headers: {
      ...headers,
      // Hookline requests an access token only before an attempt. The preview makes no attempt, so
      // it shows a mask in place of the token.
      ...(destination.auth?.oauth2 && { Authorization: `Bearer ${mask}` }),
      Host: new URL(url).host,
      'Content-Length': String(Buffer.byteLength(body)),
      Connection: 'keep-alive',
    },
    body,
  }))
}

/** Masks values that come from files. Masked URLs keep their origin, and headers their name. */
const maskedBy =
  ({ webhooks }: Destination) =>
  (preview: Preview): Preview => {
    const { url, headers } = webhooks.find(({ label }) => label === preview.webhook) ?? {}
    const shown = Object.entries(preview.headers).map(([name, value]) => [
      name,
      headers?.[name] instanceof Secret ? mask : value,
    ])
    return {
      ...preview,
      url: url instanceof Secret ? `${new URL(preview.url).origin}/${mask}` : preview.url,
      headers: Object.fromEntries(shown),
    }
  }

function linesOf({ destination, webhook, url, headers, body }: Preview): readonly string[] {
  const heading = `### ${destination}, webhook ${webhook}`
  return [heading, `POST ${url}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), '', body, '']
}
