import { closed, count, list, type Schema, text, time } from './openapi-basic-schemas.ts'

const perSecond = (description: string): Schema => ({ type: 'number', minimum: 0, description })
const results = (about: string): Schema =>
  closed({
    since: {
      ...time,
      description: `Beginning of the time span of these counts: ${about} ago.`,
    },
    delivered: { ...count, description: 'Number of successful deliveries.' },
    failed: { ...count, description: 'Number of failed attempts. One delivery can have several failed attempts.' },
    deadLettered: count,
    dropped: count,
  })

/** The part of the installation's status that the processes report. */
export const liveInstallation: Readonly<Record<string, Schema>> = {
  rates: {
    ...closed({
      admittedPerSecond: perSecond(
        'New deliveries per second. An event counts once for each of its destinations. Retries are not counted.',
      ),
      deliveredPerSecond: perSecond('Successful deliveries per second.'),
      failedPerSecond: perSecond('Failed attempts per second.'),
    }),
    description: 'Each value is the sum of the rates that all processes measured over the last 5 seconds.',
  },
  openBreakers: {
    ...list(text),
    maxItems: 100,
    description:
      'The first 100 destinations, by id, whose circuit breaker is open or probing in at least one process. Disabled and paused destinations are not listed.',
  },
  openBreakerCount: {
    ...count,
    description:
      'Number of destinations whose circuit breaker is open or probing in at least one process. `openBreakers` has only the first 100 of them.',
  },
  services: {
    ...list(
      closed({
        instance: { ...text, description: 'Unique name of the process; a restart changes it.' },
        services: list(text),
        version: text,
        startedAt: time,
        seenAt: { ...time, description: 'When the process last wrote its status, which it does every 5 seconds.' },
        partitions: { ...count, description: 'Number of partitions of the events topic that the process owns.' },
      }),
    ),
    description: 'The processes that wrote their status in the last 30 seconds.',
  },
}

/** The part of a destination's status that the dispatchers report. */
export const liveDestination: Readonly<Record<string, Schema>> = {
  circuitBreaker: closed(
    {
      state: {
        enum: ['closed', 'open', 'probing'],
        description:
          '`probing`: at least one process waits for the result of a probe (a single attempt while the circuit breaker is open). `open`: at least one process makes no attempts, because too many attempts have failed. `closed`: all other cases, also a disabled or paused destination.',
      },
      nextProbeAt: {
        ...time,
        description: 'When a process may send the next probe. Absent while the circuit breaker is closed.',
      },
    },
    ['nextProbeAt'],
  ),
  requestsInProgress: count,
  inMemory: { ...count, description: 'Deliveries that wait in the memory of the dispatchers for an attempt.' },
  pace: perSecond(
    'Attempts per second that all processes together allow after a 429 from an endpoint: the sum of their limits. Processes without a limit are not included. Absent if no process has a limit.',
  ),
  pausedUntil: {
    ...time,
    description:
      'End of the pause after a `Retry-After` from the endpoint. Each process has its own pause: the field has the latest end. Absent if no process pauses. For a pause by an operator, see `state`.',
  },
  results: closed({ lastHour: results('60 to 75 minutes'), lastDay: results('24 h to 24 h 15 min') }),
}
