import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import type { Command } from 'commander'
import { createSink, type SinkAnswer, type SinkOptions, type SinkRequest } from '../../adapters/http/sink-server.ts'
import { countWithNoun } from '../../core/count-with-noun.ts'
import { Secret } from '../../core/secret.ts'
import type { ListenAddress } from '../../core/settings/settings.ts'
import { listen as listenSchema } from '../../core/settings/value-types.ts'
import { type DurationMs, parseDuration } from '../../core/time.ts'
import { CommandFailed, type CommandIo, createCommand, UsageError, withExamples } from '../create-command.ts'
import { wholeNumber } from '../options.ts'
import { printable } from '../terminal-table-and-progress-bar.ts'

interface Options {
  readonly listen?: ListenAddress
  readonly secret?: readonly string[]
  readonly secretFile?: readonly string[]
  readonly file?: string
  readonly latency?: DurationMs
  readonly statuses?: readonly SinkAnswer[]
  readonly retryAfter?: number
  readonly resetEvery?: number
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly quiet?: boolean
}

const description = [
  "Receives webhooks locally, as a customer's endpoint would. Verifies signatures, prints one line for each request, and simulates failures.",
  'Accepts POST requests on every path. With --statuses, requests with the same X-Message-Id on the same path count as attempts of one message. If a reused connection breaks, Hookline may immediately send the request again, so the sink may count one attempt of Hookline as two.',
  'With --file, writes each request as one JSON line {"at","path","headers","body","signatureValid"} before it responds. Without --secret and --secret-file, "signatureValid" is null.',
].join('\n\n')

const examples = [
  'hookline sink --secret s3cret --file received.jsonl',
  'hookline sink --statuses 500,503,200 --retry-after 30     # two failures, then success, for each message',
  'hookline sink --statuses hang,reset,200                   # a timeout, a broken connection, then success',
  'hookline sink --statuses 404                              # rejects everything',
  'hookline sink --latency 4900ms --reset-every 10           # slow; breaks the connection of every tenth request',
  'hookline sink --listen 127.0.0.1:9091 --quiet --file - | jq .body',
]

/** `hookline sink`: a local webhook endpoint for development, demonstrations and tests. */
export function sinkCommand(io: CommandIo): Command {
  const command = createCommand('sink', 'receive webhooks locally, verify signatures and simulate failures', io)
    .description(description)
    .option(
      '--listen <host:port>',
      'address to listen on; port 0 picks a free port (default: 127.0.0.1:9090)',
      parseListen,
    )
    .option(
      '--secret <text>',
      'shared secret with which the sink verifies signatures; can be repeated, for example during a rotation',
      append,
    )
    .option(
      '--secret-file <file>',
      'file with a shared secret with which the sink verifies signatures; can be repeated',
      append,
    )
    .option('--file <file>', 'append each request to this file as a JSON line; "-" means stdout')
    .option('--latency <duration>', 'delay before each response, such as 20ms or 3s (default: none)', parseLatency)
    .option(
      '--statuses <list>',
      'comma-separated responses to the attempts of one message, in order: HTTP statuses, "reset" (break the connection) or "hang" (send no response); the last one repeats (default: 200)',
      parseAnswers,
    )
    .option(
      '--retry-after <seconds>',
      'send the header Retry-After with this value in every response that is not 2xx',
      wholeNumber('--retry-after', 0),
    )
    .option(
      '--reset-every <n>',
      'break the connection of every nth request instead of responding',
      wholeNumber('--reset-every', 1),
    )
    .option('--tls-cert <file>', 'file with the certificate (PEM) with which the sink serves HTTPS; needs --tls-key')
    .option('--tls-key <file>', 'file with the private key (PEM) of the certificate; needs --tls-cert')
    .option('--quiet', 'do not print a line for each request')
    .action((options: Options) => run(options, io))
  return withExamples(command, examples)
}

async function run(options: Options, io: CommandIo): Promise<void> {
  const stopping = io.stopSignal()
  const sinkOptions = await readOptions(options)
  const record = await openRecord(options.file, io)
  // With `--file -`, stdout has only JSON lines.
  const lines = options.file === '-' ? io.stderr : io.stdout
  const say = (line: string): boolean => lines.write(`${line}\n`)
  const sink = createSink({
    ...sinkOptions,
    onRequest: async request => {
      if (options.quiet !== true) say(lineOf(request))
      await record?.write(recordOf(request))
    },
  })
  say(`hookline sink listening on ${await sink.start()}`)
  const failure = await Promise.race([stopped(stopping), record?.failed].filter(each => each !== undefined))
  const { received, messages, badSignatures } = await sink.stop()
  await record?.close()
  const signatures =
    sinkOptions.secrets?.length === 0 ? 'signatures not checked' : countWithNoun(badSignatures, 'bad signature')
  say(`received ${countWithNoun(received, 'request')}: ${countWithNoun(messages, 'distinct message')}, ${signatures}`)
  if (failure !== undefined) throw failure
}

async function stopped(signal: AbortSignal): Promise<undefined> {
  if (!signal.aborted) await once(signal, 'abort')
}

/**
 * The line of a request, in UTC, for example `09:30:12.345 /hooks track 5f0c… 500 signature ok`.
 */
function lineOf({ at, path, body, messageId, answer, signatureValid }: SinkRequest): string {
  const signature = signatureValid === null ? 'not checked' : signatureValid ? 'ok' : 'BAD'
  const time = new Date(at).toISOString().slice(11, 23)
  return printable(`${time} ${path} ${typeOf(body)} ${messageId ?? '-'} ${answer} signature ${signature}`)
}

function typeOf(body: string): string {
  try {
    const { type } = JSON.parse(body) as { type?: unknown }
    return typeof type === 'string' ? type : '-'
  } catch {
    return '-'
  }
}

/** The JSON line of a request. Do not change the order of its keys: programs may depend on it. */
function recordOf({ at, path, headers, body, signatureValid }: SinkRequest): string {
  return `${JSON.stringify({ at: new Date(at).toISOString(), path, headers, body, signatureValid })}\n`
}

/** The file or stream to which requests are written as JSON lines. */
interface RequestRecord {
  /** Resolves when the line is written or has failed. Only `failed` reports the failure. */
  write(line: string): Promise<void>
  close(): Promise<void>
  /** Resolves with the error when a line could not be written. */
  readonly failed: Promise<Error>
}

async function openRecord(file: string | undefined, io: CommandIo): Promise<RequestRecord | undefined> {
  if (file === undefined) return undefined
  const stream: Writable = file === '-' ? io.stdout : createWriteStream(file, { flags: 'a' })
  const failure = (cause: Error): Error => new CommandFailed(`cannot write to ${file}: ${cause.message}`, { cause })
  if (file !== '-') {
    await once(stream, 'open').catch(cause => {
      throw failure(cause)
    })
  }
  return {
    write: line => new Promise(resolve => stream.write(line, () => resolve())),
    close: () => new Promise(resolve => (file === '-' || stream.destroyed ? resolve() : stream.end(resolve))),
    failed: new Promise(resolve => stream.once('error', cause => resolve(failure(cause)))),
  }
}

async function readOptions(options: Options): Promise<SinkOptions> {
  const { listen = { host: '127.0.0.1', port: 9090 }, secret = [], secretFile = [], tlsCert, tlsKey } = options
  // Editors append a line break, which is not part of the secret.
  const fromFiles = await Promise.all(secretFile.map(async file => (await read(file)).replace(/\r?\n$/, '')))
  const secrets = [...secret, ...fromFiles]
  if (secrets.includes(''))
    throw new UsageError('the shared secret is empty: correct --secret or the file of --secret-file')
  return {
    listen,
    secrets: secrets.map(text => new Secret(text)),
    answers: options.statuses,
    latency: options.latency,
    retryAfter: options.retryAfter,
    resetEvery: options.resetEvery,
    tls: await readTls(tlsCert, tlsKey),
  }
}

async function readTls(cert: string | undefined, key: string | undefined): Promise<SinkOptions['tls']> {
  if (cert !== undefined && key !== undefined) return { cert: await read(cert), key: await read(key) }
  if (cert !== undefined || key !== undefined) throw new UsageError('--tls-cert and --tls-key must be used together')
  return undefined
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw new UsageError(`cannot read ${file}: ${(cause as Error).message}`, { cause })
  }
}

const append = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

function parseListen(text: string): ListenAddress {
  const parsed = listenSchema.safeParse(text)
  if (!parsed.success) throw new UsageError(`--listen ${parsed.error.issues[0]?.message}, not '${text}'`)
  return parsed.data
}

function parseLatency(text: string): DurationMs {
  const latency = parseDuration(text)
  if (latency === undefined) throw new UsageError(`--latency must be a duration such as 20ms or 3s, not '${text}'`)
  return latency
}

function parseAnswers(text: string): readonly SinkAnswer[] {
  return text.split(',').map(part => {
    const answer = part.trim()
    if (answer === 'reset' || answer === 'hang') return answer
    if (/^[2-5]\d\d$/.test(answer)) return Number(answer)
    throw new UsageError(`--statuses must be a list of HTTP statuses (200 to 599), 'reset' or 'hang', not '${text}'`)
  })
}
