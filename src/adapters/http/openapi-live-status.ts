import { closed, count, list, type Schema, text, time } from './openapi-parts.ts'

const perSecond = (description: string): Schema => ({ type: 'number', minimum: 0, description })
const results = (about: string): Schema =>
  closed({
    since: { ...time, description: `The beginning of the results: ${about}, or up to 15 minutes earlier.` },
    delivered: { ...count, description: 'Deliveries that a webhook accepted.' },
    failed: { ...count, description: 'Failed attempts. A delivery can have several.' },
    deadLettered: count,
    dropped: count,
  })

/** The part of the status of the installation that the processes report. */
export const liveInstallation: Readonly<Record<string, Schema>> = {
  rates: {
    ...closed({
      admittedPerSecond: perSecond('Deliveries of new events, without retries.'),
      deliveredPerSecond: perSecond('Successful deliveries.'),
      failedPerSecond: perSecond('Failed attempts.'),
    }),
    description: 'The sum over all processes, over the last seconds.',
  },
  openBreakers: {
    ...list(text),
    maxItems: 100,
    description: 'The first 100 destinations whose circuit breaker is not closed in some process.',
  },
  services: {
    ...list(
      closed({
        instance: { ...text, description: 'Unique name of the process; a restart changes it.' },
        services: list(text),
        version: text,
        startedAt: time,
        seenAt: { ...time, description: 'When the process last wrote its status. It does so every 5 seconds.' },
        partitions: { ...count, description: 'Number of partitions of the events topic that it owns.' },
      }),
    ),
    description: 'The processes that wrote their status in the last 30 seconds.',
  },
}

/** The part of the status of a destination that the dispatchers report. */
export const liveDestination: Readonly<Record<string, Schema>> = {
  circuitBreaker: closed(
    {
      state: {
        enum: ['closed', 'open', 'probing'],
        description: '`probing` when some process waits for a probe, otherwise `open` when it is open in some process.',
      },
      nextProbeAt: { ...time, description: 'When the next attempt may be made. Absent while it is closed.' },
    },
    ['nextProbeAt'],
  ),
  requestsInProgress: count,
  inMemory: { ...count, description: 'Deliveries that wait in the memory of a dispatcher.' },
  pace: perSecond('Maximum number of attempts per second after a 429. Absent without a limit.'),
  results: closed({ lastHour: results('an hour ago'), lastDay: results('a day ago') }),
}
