import type { ShownDeadLetter } from '../adapters/operator-client/message-dead-letter-ledger-client.ts'
import { countWithNoun } from '../core/count-with-noun.ts'
import type { DeadLetterFilter } from '../core/delivery/dead-letter-filter.ts'
import { CommandFailed, type CommandIo, print } from './create-command.ts'
import { apiFilterOf } from './dead-letter-filter-options.ts'
import { deadLetterTitles, withReasons } from './dead-letter-output.ts'
import { type OperatorOptions, openLogClient } from './operator-api-options-and-clients.ts'
import { printable, tableOf } from './terminal-table-and-progress-bar.ts'

interface Options extends OperatorOptions {
  readonly limit?: number
}

/**
 * Lists dead letters, oldest first. With `--limit`, the counts include only the listed ones,
 * because the API returns no other dead letters.
 */
export async function listByApi(filter: DeadLetterFilter, options: Options, io: CommandIo): Promise<void> {
  const { limit = Number.POSITIVE_INFINITY, json } = options
  const client = await openLogClient(options, io)
  const answer = await client.deadLetters(apiFilterOf(filter), limit)
  if ('kind' in answer) throw new CommandFailed(printable(`${answer.message} (${answer.code})`))
  const { deadLetters: found, isPartial } = answer
  const oldestFirst = found.toReversed()
  if (json === true) for (const deadLetter of oldestFirst) print(io, JSON.stringify(deadLetter))
  else if (oldestFirst.length > 0) print(io, tableOf(deadLetterTitles, oldestFirst.map(rowOf)).join('\n'))
  const isCut = found.length >= limit
  const shown = found.length === 0 ? 'no dead letters' : countWithNoun(found.length, 'dead letter')
  const counts = withReasons(isCut ? `${shown} shown` : shown, countsByReason(found))
  io.stderr.write(`${counts}${isCut ? '; there may be older dead letters: to list them, increase --limit' : ''}\n`)
  if (isPartial)
    io.stderr.write(
      'hookline: the list may include dead letters that were already replayed, because the operator service cannot keep the keys of all replayed dead letters in memory\n',
    )
}

function countsByReason(deadLetters: readonly ShownDeadLetter[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { reason } of deadLetters) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return counts
}

const rowOf = ({ at, destination, reason, outcomes, messageId, type, attempts, position, key }: ShownDeadLetter) => [
  ...[at, destination, reason || '-', outcomes.join(',') || '-', messageId ?? '-', type ?? '-'],
  String(attempts ?? '-'),
  position === undefined ? '-' : `${position.topic}/${position.partition}/${position.offset}`,
  key,
]
