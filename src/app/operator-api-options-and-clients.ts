import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import {
  createMessageDeadLetterLedgerClient,
  type MessageDeadLetterLedgerClient,
} from '../adapters/operator-client/message-dead-letter-ledger-client.ts'
import { createObjectApiClient, type ObjectApiClient } from '../adapters/operator-client/object-api-client.ts'
import type { OperatorAddress } from '../adapters/operator-client/operator-request.ts'
import { Secret } from '../core/secret.ts'
import { secretIn } from '../core/settings/named-files-and-content-problems.ts'
import { defaultListen } from '../core/settings/schema-of-http-servers.ts'
import { isBearerToken } from '../core/settings/sendable-keys-and-tokens.ts'
import { httpUrl } from '../core/settings/value-types.ts'
import { type CommandIo, UsageError } from './create-command.ts'

/** The options of commands that use the operator API. */
export interface OperatorOptions {
  readonly operatorUrl?: string
  readonly operatorKeyFile?: string
  readonly json?: boolean
}

const defaultUrl = `http://${defaultListen.operator}`

const operatorUrlText = `URL of the operator API (default: the value of HOOKLINE_OPERATOR_URL or, if this variable is not set, ${defaultUrl})`

/**
 * Adds `--operator-url` and `--operator-key-file`. The key itself must never be on the command
 * line.
 */
export function withOperatorOptions(command: Command, urlText = operatorUrlText): Command {
  return command
    .option('--operator-url <url>', urlText)
    .option(
      '--operator-key-file <file>',
      'file with an operator key: one of the keys in the setting operator.keys of the operator service (default: the value of HOOKLINE_OPERATOR_KEY_FILE)',
    )
}

/** For help texts: when `usesOperatorApi` returns true. */
export const operatorApiUse =
  'With --operator-url, the command uses the operator API. With --config, it does not. With neither option, it uses the operator API if HOOKLINE_OPERATOR_URL is set, even if HOOKLINE_CONFIG is set too.'

/**
 * Whether the command uses the operator API. `--config` takes precedence over
 * HOOKLINE_OPERATOR_URL, because this URL may belong to another installation.
 * @throws UsageError if both `--config` and `--operator-url` are used
 */
export function usesOperatorApi(options: OperatorOptions & { readonly config?: string }, { env }: CommandIo): boolean {
  const { operatorUrl, config } = options
  if (config === undefined) return operatorUrl !== undefined || (env['HOOKLINE_OPERATOR_URL'] ?? '') !== ''
  if (operatorUrl !== undefined) throw new UsageError('use only one of --config and --operator-url')
  return false
}

/**
 * Creates a client of the operator API. `signal` is a getter, so that the first request calls
 * `io.stopSignal`. Until this call, SIGINT ends the process immediately.
 * @throws UsageError
 */
export async function openOperator(options: OperatorOptions, io: CommandIo): Promise<ObjectApiClient> {
  const limits = {
    get signal() {
      return io.stopSignal()
    },
  }
  return createObjectApiClient(await operatorAddress(options, io), limits)
}

/**
 * Creates a client for messages, dead letters and the ledger.
 * @throws the errors of `operatorAddress`
 */
export async function openLogClient(options: OperatorOptions, io: CommandIo): Promise<MessageDeadLetterLedgerClient> {
  return createMessageDeadLetterLedgerClient(await operatorAddress(options, io), { signal: io.stopSignal() })
}

/** The URL and the key of the operator API. @throws UsageError when one is missing or not usable */
export async function operatorAddress(options: OperatorOptions, io: CommandIo): Promise<OperatorAddress> {
  const { operatorUrl, operatorKeyFile } = options
  const url = operatorUrl ?? (io.env['HOOKLINE_OPERATOR_URL'] || defaultUrl)
  const refusal = httpUrl.safeParse(url).error?.issues[0]?.message
  if (refusal !== undefined) throw new UsageError(`--operator-url: ${refusal}`)
  const file = operatorKeyFile ?? io.env['HOOKLINE_OPERATOR_KEY_FILE'] ?? ''
  if (file === '')
    throw new UsageError('no operator key: use --operator-key-file <file> or set HOOKLINE_OPERATOR_KEY_FILE')
  return { url: url.replace(/\/+$/, ''), key: await keyIn(file) }
}

async function keyIn(file: string): Promise<Secret> {
  let key: string
  try {
    key = secretIn(await readFile(file, 'utf8'))
  } catch (error) {
    throw new UsageError(`--operator-key-file: ${(error as Error).message}`)
  }
  // The message must not show the content of the file.
  if (!isBearerToken(key))
    throw new UsageError(`--operator-key-file: ${file} must contain one operator key and nothing else`)
  return new Secret(key)
}
