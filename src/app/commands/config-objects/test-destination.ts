import type { Tested } from '../../../adapters/operator-client/object-api-client.ts'
import { CommandFailed, printData } from '../../create-command.ts'
import type { OperatorOptions } from '../../operator-api-options-and-clients.ts'
import { printable } from '../../terminal-table-and-progress-bar.ts'
import type { ObjectTask } from './subcommand.ts'
import { throwIfRefused } from './throw-if-refused.ts'

/** `hookline destinations test` */
export async function testDestination(
  { io, client, kind }: ObjectTask,
  options: OperatorOptions,
  id: string,
): Promise<void> {
  const { kind: _kind, ...result } = throwIfRefused(await client.test(id), kind, id)
  printData(io, options, { id, ...result }, result.responses.flatMap(linesOf))
  if (!result.delivered)
    throw new CommandFailed(
      `no webhook of ${kind} ${id} accepted the test message; see the outcome of each webhook above`,
    )
}

function linesOf({ webhook, request, outcome, status, failure, tookMs, responseBody }: Tested['responses'][number]) {
  const trouble = failure === undefined ? '' : `${failure.code}: ${failure.detail}`
  const answer = status === undefined ? trouble : `status ${status}`
  return [
    `webhook ${webhook}: ${outcome} (${answer}) in ${tookMs} ms`,
    `  POST ${request.url}`,
    ...Object.entries(request.headers).map(([name, value]) => `  ${name}: ${value}`),
    ...(responseBody === undefined ? [] : bodyLines(responseBody)),
  ].map(printable)
}

function bodyLines({ text, contentEncoding, truncated }: NonNullable<Tested['responses'][number]['responseBody']>) {
  if (contentEncoding !== undefined) return [`  response: not shown, because it is compressed with ${contentEncoding}`]
  if (text === undefined || text === '') return ['  response: empty']
  const lines = text.trimEnd().split(/\r?\n/)
  return [`  response${truncated ? ' (only the beginning)' : ''}:`, ...lines.map(line => `    ${line}`)]
}
