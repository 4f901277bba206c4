import type { ShownStatus } from '../../../adapters/operator-client/object-api-client.ts'
import { printData } from '../../create-command.ts'
import type { OperatorOptions } from '../../operator-api-options-and-clients.ts'
import { printable, tableOf } from '../../terminal-table-and-progress-bar.ts'
import type { ObjectTask } from './subcommand.ts'
import { throwIfRefused } from './throw-if-refused.ts'

/** `hookline destinations status` */
export async function showStatus(
  { io, client, kind }: ObjectTask,
  options: OperatorOptions,
  id: string,
): Promise<void> {
  const status = throwIfRefused(await client.status(id), kind, id) as ShownStatus
  printData(io, options, status, linesOf(status).map(printable))
  if (status.partial === true)
    io.stderr.write(
      'hookline: the operator service could not read all records from Kafka in time, so numbers may be too low; run the command again\n',
    )
}

function linesOf(status: ShownStatus) {
  const { id, state, circuitBreaker, requestsInProgress, inMemory, pace, pausedUntil, waiting, results } = status
  const probe = circuitBreaker.nextProbeAt === undefined ? '' : `, next probe at ${circuitBreaker.nextProbeAt}`
  const row = (
    name: string,
    { since, delivered, failed, deadLettered, dropped }: ShownStatus['results']['lastDay'],
  ) => [name, ...[delivered, failed, deadLettered, dropped].map(String), since]
  return [
    `${id}: ${state}`,
    `circuit breaker: ${circuitBreaker.state}${probe}`,
    `requests in progress: ${requestsInProgress}`,
    `deliveries that wait in memory for an attempt: ${inMemory}`,
    ...(pace === undefined
      ? []
      : [`attempts are limited to ${pace} per second now, because the endpoint responded with 429`]),
    ...(pausedUntil === undefined
      ? []
      : [`attempts are paused until ${pausedUntil}, because the endpoint responded with Retry-After`]),
    ...waiting.map(
      ({ tier, records, oldestAt }) =>
        `deliveries that wait in the ${tier} retry topic: ${records}, the oldest since ${oldestAt}`,
    ),
    ...tableOf(
      ['RESULTS', 'DELIVERED', 'FAILED ATTEMPTS', 'DEAD-LETTERED', 'DROPPED', 'SINCE'],
      [row('last hour', results.lastHour), row('last day', results.lastDay)],
    ),
  ]
}
