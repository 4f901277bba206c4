import type { Tested } from '../../../adapters/operator-client/operator-client.ts'
import { CommandFailed, printData } from '../../command.ts'
import type { OperatorOptions } from '../../operator-options.ts'
import { printable } from '../../terminal.ts'
import { accepted, type ObjectTask } from './task.ts'

/** `hookline destinations test` */
export async function testDestination(
  { io, client, kind }: ObjectTask,
  options: OperatorOptions,
  id: string,
): Promise<void> {
  const { kind: _kind, ...result } = accepted(await client.test(id), kind, id)
  printData(io, options, { id, ...result }, result.responses.flatMap(linesOf))
  if (!result.delivered) throw new CommandFailed(`no webhook of ${kind} ${id} accepted the test message`)
}

function linesOf({ webhook, request, outcome, status, failure, tookMs, responseBody }: Tested['responses'][number]) {
  const answer = status ?? (failure === undefined ? '' : `${failure.code}: ${failure.detail}`)
  return [
    `${webhook}: ${outcome} (${answer}) in ${tookMs} ms`,
    `  POST ${request.url}`,
    ...Object.entries(request.headers).map(([name, value]) => `  ${name}: ${value}`),
    ...(responseBody === undefined ? [] : bodyLines(responseBody)),
  ].map(printable)
}

function bodyLines({ text, contentEncoding, truncated }: NonNullable<Tested['responses'][number]['responseBody']>) {
  if (contentEncoding !== undefined) return [`  response: compressed with ${contentEncoding}, not shown`]
  if (text === undefined || text === '') return ['  response: empty']
  const lines = text.trimEnd().split(/\r?\n/)
  return [`  response${truncated ? ' (its beginning)' : ''}:`, ...lines.map(line => `    ${line}`)]
}
