import { text as readText } from 'node:stream/consumers'
import type { Command } from 'commander'
import { processClock } from '../../adapters/clock/process-clock.ts'
import { countWithNoun } from '../../core/count-with-noun.ts'
import { explainDrop } from '../../core/delivery/explain-drop.ts'
import { messageRequestsOf } from '../../core/delivery/requests-for-preview-or-test.ts'
import { createRouting, type Routing } from '../../core/delivery/route.ts'
import type { Event } from '../../core/message/event.ts'
import type { Rejection } from '../../core/message/message-rejection.ts'
import { type Normalised, normalise } from '../../core/message/normalise.ts'
import { parseMessageText } from '../../core/message/parse-message-json.ts'
import type { Clock } from '../../core/ports.ts'
import { mask, Secret } from '../../core/secret.ts'
import type { Destination, Settings } from '../../core/settings/settings.ts'
import type { WebhookCall } from '../../core/webhook-ports.ts'
import { CommandFailed, type CommandIo, createCommand, printData, UsageError, withExamples } from '../create-command.ts'
import { readSettings } from '../load-settings.ts'
import {
  type OperatorOptions,
  openOperator,
  operatorApiUse,
  usesOperatorApi,
  withOperatorOptions,
} from '../operator-api-options-and-clients.ts'
import { choice, onlyFileNote, withConfigOption, withJsonOption } from '../options.ts'
import { printable } from '../terminal-table-and-progress-bar.ts'
import { throwIfRefused } from './config-objects/throw-if-refused.ts'

interface Options extends OperatorOptions {
  readonly config?: string
  readonly destination?: string
  readonly source?: string
  readonly showSecrets?: boolean
}

/** One POST request as the endpoint of a webhook would receive it. */
interface Preview extends Pick<WebhookCall, 'url' | 'headers'> {
  readonly destination: string
  /** The label of the webhook. */
  readonly webhook: string
  readonly body: string
}

const description = [
  'Reads a message as JSON from stdin, in the form in which an SDK sends it. Shows each webhook request that Hookline would send for the message, with headers, signature and body. The command sends nothing.',
  `${operatorApiUse} With the operator API, --destination is required. Without the operator API, the command reads only the configuration file and the files that it names, so destinations and sources created through the operator API are missing.`,
  'The output has the format of .http files, which many editors can open. With the operator API, the command shows *** for all secrets and signatures. Without the operator API, it shows *** only for header values and URLs that the configuration reads from other files (with "file" or "urlFile"). To show these values too, use --show-secrets (only without the operator API).',
  'If the message is invalid, or no destination would get it, the command prints the reason, and the exit code is 1.',
].join('\n\n')

const operatorUrlText =
  'preview through the operator API at this URL (default without --config: the value of HOOKLINE_OPERATOR_URL)'

const examples = [
  'echo \'{"type":"track","userId":"u1","event":"Signed up"}\' | hookline preview',
  'hookline preview --source web --destination crm < message.json',
  "hookline preview --json < message.json | jq -r '.[0].body'",
  'hookline preview --destination crm --operator-url http://127.0.0.1:8090 < message.json',
]

/** `hookline preview` */
export function previewCommand(io: CommandIo, clock: Clock = processClock): Command {
  const command = createCommand(
    'preview',
    'show the webhook requests for a message without sending them',
    io,
  ).description(description)
  withOperatorOptions(withJsonOption(withConfigOption(command)), operatorUrlText)
    .option(
      '--source <id>',
      'source of the message (default: the only source in the configuration file; with the operator API: the only source of the destination)',
    )
    .option(
      '--destination <id>',
      'show only requests to this destination (required with the operator API; otherwise default: all destinations of the source)',
    )
    .option(
      '--show-secrets',
      'show header values and URLs that the configuration reads from other files; without this option, they are masked',
    )
    .action((options: Options) => run(options, io, clock))
  return withExamples(command, examples)
}

async function run(options: Options, io: CommandIo, clock: Clock): Promise<void> {
  if (usesOperatorApi(options, io)) return previewByApi(options, io, clock)
  const settings = await readSettings(options, io, new Set(['dispatcher']))
  const sourceId = sourceOf(options, settings)
  const destinations = destinationsOf(options, settings, sourceId)
  const { message, droppedKeys } = await readMessage(io, clock)
  if (droppedKeys > 0)
    note(
      io,
      `the message has ${countWithNoun(droppedKeys, 'key')} named "__proto__"; the requests do not contain keys of this name, because Hookline removes them from every message`,
    )

  const receivedAt = clock.now()
  const event: Event = { sourceId, destinationId: undefined, receivedAt, canonical: true, origin: undefined, message }
  const routing = createRouting(settings)
  const previews: Preview[] = []
  const refusals: string[] = []
  for (const destination of destinations) {
    const refusal = refusalOf(destination, event, routing)
    if (refusal !== undefined) refusals.push(refusal)
    else
      previews.push(
        ...previewsOf(destination, event, settings, clock).map(
          options.showSecrets === true ? each => each : maskedBy(destination),
        ),
      )
    if (refusal === undefined && destination.paused) notePause(io, destination.id)
  }
  if (previews.length === 0) throw new CommandFailed(refusals.join('; '))
  for (const refusal of refusals) note(io, refusal)
  printData(io, options, previews, previews.flatMap(linesOf))
}

/** Lets the operator API preview the message. */
async function previewByApi(options: Options, io: CommandIo, clock: Clock): Promise<void> {
  const { destination, source, showSecrets } = options
  if (destination === undefined)
    throw new UsageError(
      'the operator API previews one destination at a time: add --destination <id>; to preview all destinations of a configuration file, use --config <file>',
    )
  if (showSecrets === true)
    throw new UsageError('the operator API never shows secrets, so --show-secrets has no effect: omit this option')
  const { input } = await readMessage(io, clock)
  const client = await openOperator(options, io)
  const shown = throwIfRefused(
    await client.preview(destination, { source, message: input }),
    'destination',
    destination,
  )
  if ('reason' in shown) throw new CommandFailed(printable(`${shown.reason}: ${shown.message}`))
  const { requests, body, paused } = shown
  if (paused === true) notePause(io, destination)
  const previews = requests.map(request => ({ destination, ...request, body }))
  printData(io, options, previews, previews.flatMap(linesOf))
}

const note = (io: CommandIo, line: string): boolean => io.stderr.write(`hookline: ${line}\n`)

const notePause = (io: CommandIo, id: string): boolean =>
  note(
    io,
    `destination '${id}' is paused: until you resume it, its requests would wait in a retry topic, at most until the end of their retry window`,
  )

/** The message on stdin: as JSON, and as Hookline would store it. */
async function readMessage(io: CommandIo, clock: Clock): Promise<Normalised & { readonly input: unknown }> {
  const text = io.stdin.isTTY === true ? '' : await readText(io.stdin)
  if (text.trim() === '')
    throw new UsageError('stdin has no message; send one as JSON: hookline preview < message.json')
  const parsed = acceptedMessage(parseMessageText(text))
  const reception = { receivedAt: clock.now(), sentAt: undefined, newId: () => clock.id() }
  return { ...acceptedMessage(normalise(parsed.value, reception, parsed.addedBytes)), input: parsed.value }
}

/** Returns the accepted message. @throws CommandFailed with the code of a rejection */
function acceptedMessage<T extends { readonly kind: string }>(outcome: T | Rejection): T {
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

function destinationsOf(options: Options, settings: Settings, sourceId: string): readonly Destination[] {
  const ids = settings.destinations.map(({ id }) => id)
  const { destination } = options
  // Pass an empty text, for example from an unset shell variable, to `choice`, which rejects it.
  if (destination !== undefined) {
    const named = choice('--destination', destination, ids, onlyFileNote(settings))
    return settings.destinations.filter(({ id }) => id === named)
  }
  const connected = settings.destinations.filter(({ sources }) => sources.includes(sourceId))
  if (connected.length === 0)
    throw new CommandFailed(
      `no_destination: no destination is connected to source '${sourceId}': add this source to the list 'sources' of a destination`,
    )
  return connected
}

/** Returns the reason why a destination would not get the event. */
function refusalOf(destination: Destination, event: Event, routing: Routing): string | undefined {
  if (destination.isPlaceholder === true)
    return `held: the file of destination '${destination.id}' in destinationsFrom is missing or not valid; its messages wait until you correct the file`
  const drop = explainDrop(destination, event, routing)
  return drop && `${drop.reason}: ${drop.text}`
}

function previewsOf(destination: Destination, event: Event, settings: Settings, clock: Clock): readonly Preview[] {
  const { body, requests } = messageRequestsOf(destination, event.message, {
    at: clock.now(),
    payload: settings.payload,
  })
  return requests.map(({ webhook, call: { url, headers } }) => ({
    destination: destination.id,
    webhook: webhook.label,
    url,
    headers: {
      ...headers,
      // Hookline requests an access token only before an attempt, so the preview shows a mask.
      ...(destination.auth?.oauth2 && { Authorization: `Bearer ${mask}` }),
      Host: new URL(url).host,
      'Content-Length': String(Buffer.byteLength(body)),
      Connection: 'keep-alive',
    },
    body,
  }))
}

/** Masks values that come from files. A URL keeps its origin, and a header its name. */
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
