import type { ShownStatus } from '../../../adapters/operator-client/operator-client.ts'
import { printData } from '../../command.ts'
import type { OperatorOptions } from '../../operator-options.ts'
import { printable, tableOf } from '../../terminal.ts'
import { accepted, type ObjectTask } from './task.ts'

/** `hookline destinations status` */
export async function showStatus(
  { io, client, kind }: ObjectTask,
  options: OperatorOptions,
  id: string,
): Promise<void> {
  const status = accepted(await client.status(id), kind, id) as ShownStatus
  printData(io, options, status, linesOf(status).map(printable))
  if (status.partial === true) io.stderr.write('hookline: the status is incomplete; run the command again\n')
}

function linesOf({ id, state, circuitBreaker, requestsInProgress, inMemory, pace, waiting, results }: ShownStatus) {
  const probe = circuitBreaker.nextProbeAt === undefined ? '' : `, next probe at ${circuitBreaker.nextProbeAt}`
  const row = (
    name: string,
    { since, delivered, failed, deadLettered, dropped }: ShownStatus['results']['lastDay'],
  ) => [name, ...[delivered, failed, deadLettered, dropped].map(String), since]
  return [
    `${id}: ${state}`,
    `circuit breaker: ${circuitBreaker.state}${probe}`,
    `requests in progress: ${requestsInProgress}, deliveries in memory: ${inMemory}`,
    ...(pace === undefined ? [] : [`pace: ${pace} attempts per second, after a 429`]),
    ...waiting.map(
      ({ tier, records, oldestAt }) => `deliveries in retry tier ${tier}: ${records}, the oldest since ${oldestAt}`,
    ),
    ...tableOf(
      ['RESULTS', 'DELIVERED', 'FAILED ATTEMPTS', 'DEAD-LETTERED', 'DROPPED', 'SINCE'],
      [row('last hour', results.lastHour), row('last day', results.lastDay)],
    ),
  ]
}
