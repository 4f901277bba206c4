import { closed, count, list, type Schema, text, time } from './openapi-basic-schemas.ts'

const perSecond = (description: string): Schema => ({ type: 'number', minimum: 0, description })
const results = (about: string): Schema =>
  closed({
    since: { ...time, description: `Start of the time span of these results: ${about}, or up to 15 minutes earlier.` },
    delivered: { ...count, description: 'Successful deliveries.' },
    failed: { ...count, description: 'Failed attempts. A delivery can have several.' },
    deadLettered: count,
    dropped: count,
  })

/** The part of the status of the installation that the processes report. */
export const liveInstallation: Readonly<Record<string, Schema>> = {
  rates: {
    ...closed({
      admittedPerSecond: perSecond('Deliveries per second for newly read events, without retries.'),
      deliveredPerSecond: perSecond('Successful deliveries per second.'),
      failedPerSecond: perSecond('Failed attempts per second.'),
    }),
    description: 'The sum of the rates of all processes. Each rate is measured over the last 5 seconds.',
  },
  openBreakers: {
    ...list(text),
    maxItems: 100,
    description: 'The first 100 destinations whose circuit breaker is not closed in at least one process.',
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

/** The part of the status of a destination that the dispatchers report. */
export const liveDestination: Readonly<Record<string, Schema>> = {
  circuitBreaker: closed(
    {
      state: {
        enum: ['closed', 'open', 'probing'],
        description:
          '`probing`: the circuit breaker of at least one process waits for the result of a probe (one attempt). `open`: it is open in at least one process, and no process waits for a probe. `closed`: it is closed in all processes.',
      },
      nextProbeAt: {
        ...time,
        description: 'When the next attempt may be made. Absent while the circuit breaker is closed.',
      },
    },
    ['nextProbeAt'],
  ),
  requestsInProgress: count,
  inMemory: { ...count, description: 'Deliveries that wait in the memory of the dispatchers for an attempt.' },
  pace: perSecond(
    'Maximum number of attempts per second that the processes together now make, because an endpoint responded with 429. Absent without this limit.',
  ),
  pausedUntil: {
    ...time,
    description:
      'When the pause ends that a `Retry-After` of the endpoint has caused. Each process pauses for the responses that it gets itself, so this is the latest end, and other processes may make attempts before it. Absent without a pause. The pause of an operator is in `state`.',
  },
  results: closed({ lastHour: results('an hour ago'), lastDay: results('a day ago') }),
}
