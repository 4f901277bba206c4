import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { createLogClient, type LogClient } from '../adapters/operator-client/log-client.ts'
import { createOperatorClient, type OperatorClient } from '../adapters/operator-client/operator-client.ts'
import type { OperatorAddress } from '../adapters/operator-client/operator-request.ts'
import { Secret } from '../core/secret.ts'
import { defaultListen } from '../core/settings/listeners.ts'
import { secretIn } from '../core/settings/named-files.ts'
import { httpUrl } from '../core/settings/value-types.ts'
import { type CommandIo, UsageError } from './command.ts'

/** The options of commands that use the operator API. */
export interface OperatorOptions {
  readonly operatorUrl?: string
  readonly operatorKeyFile?: string
  readonly json?: boolean
}

const defaultUrl = `http://${defaultListen.operator}`

const operatorUrlText = `URL of the operator API (default: the value of HOOKLINE_OPERATOR_URL, otherwise ${defaultUrl})`

/**
 * Adds `--operator-url` and `--operator-key-file`. A key is never on the command line. `urlText` is
 * the help of `--operator-url` for a command that can also work without the operator API.
 */
export function withOperatorOptions(command: Command, urlText = operatorUrlText): Command {
  return command
    .option('--operator-url <url>', urlText)
    .option(
      '--operator-key-file <file>',
      'file with a key of operator.keys (default: the value of HOOKLINE_OPERATOR_KEY_FILE)',
    )
}

/**
 * A client of the operator API. The stop signal of the command cancels its requests.
 * @throws UsageError when the URL or the key file is missing or not usable
 */
export async function openOperator(options: OperatorOptions, io: CommandIo): Promise<OperatorClient> {
  return createOperatorClient(await operatorAddress(options, io), { signal: io.stopSignal() })
}

/** Like `openOperator`, for the calls that read messages and dead letters. */
export async function openLogClient(options: OperatorOptions, io: CommandIo): Promise<LogClient> {
  return createLogClient(await operatorAddress(options, io), { signal: io.stopSignal() })
}

/**
 * The URL and the key of the operator API.
 * @throws UsageError when the URL or the key file is missing or not usable
 */
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
  // Other characters cannot be in an HTTP header. The message does not show the content.
  if (!/^[\x21-\x7e]+$/.test(key)) throw new UsageError(`--operator-key-file: ${file} must contain only a key`)
  return new Secret(key)
}
