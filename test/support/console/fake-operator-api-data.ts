import type { Replay, Resend } from '../../../packages/console/src/api/job-types.ts'
import type { Ledger } from '../../../packages/console/src/api/ledger-types.ts'
import type { ObjectChange } from '../../../packages/console/src/api/recorded-object-change-types.ts'
import type {
  Attempt,
  ConfigObject,
  DeadLetterDetail,
  DestinationStatus,
  InstallationStatus,
  MessageTimeline,
} from '../../../packages/console/src/api/response-types.ts'
import type { RequestPreview } from '../../../packages/console/src/api/test-and-preview-types.ts'

const now = Date.parse('2026-11-26T02:30:00.000Z')
const minutesAgo = (minutes: number): string => new Date(now - minutes * 60_000).toISOString()

/** A destination whose endpoint fails, with dead letters and failed attempts. */
export const failingId = 'crm-of-a-customer-with-a-very-long-name.production.eu-central-1'
/** A destination of the configuration file that Hookline has disabled. */
export const disabledId = 'closed-shop'
export const failedMessage = 'ajs-next-1764120001-4c1f0c2e-7b1d-4d0a-9b52-8a4de3a6f0aa'

/** A message id that must be percent-encoded in a URL. */
export const oddMessage = '100%/a?b#c d'

export function objectOf(id: string, changed: Partial<ConfigObject> = {}): ConfigObject {
  return {
    ...{ id, kind: 'destination', origin: 'api', version: 3, state: 'enabled', conflict: false },
    ...{ changedBy: 'ada', changedAt: minutesAgo(90), problems: [], fingerprints: { sharedSecret: '5d41402a' } },
    document: {
      ...{ id, sources: ['web'], sharedSecret: '***' },
      webhooks: [{ id: 'main', url: 'https://hooks.example.com/***', headers: { Authorization: '***' } }],
      policy: { ratePerSecond: 50, timeout: '3s' },
    },
    ...changed,
  }
}

const special: readonly ConfigObject[] = [
  objectOf(failingId),
  objectOf('billing', { origin: 'file', version: 0 }),
  objectOf('analytics', { state: 'paused', document: { ...objectOf('analytics').document, paused: true } }),
  objectOf('archive', { state: 'disabled', document: { ...objectOf('archive').document, enabled: false } }),
  objectOf(disabledId, {
    ...{ origin: 'file', version: 0, state: 'disabled' },
    disabledAutomatically: { at: minutesAgo(30), reason: 'failing', failingSince: minutesAgo(4350) },
  }),
  objectOf('broken', {
    state: 'excluded',
    problems: [{ path: 'sources[0]', message: 'is not a source', hint: 'add the source, or remove the id' }],
  }),
]

export const manyDestinations = (count: number): Map<string, ConfigObject> => {
  const others = Array.from({ length: count - special.length }, (_, index) =>
    objectOf(`customer-${String(index).padStart(5, '0')}`),
  )
  const sorted = [...special, ...others].sort((a, b) => (a.id < b.id ? -1 : 1))
  return new Map(sorted.map(each => [each.id, each]))
}

export const sources: readonly ConfigObject[] = ['mobile', 'web'].map(id =>
  objectOf(id, { kind: 'source', document: { id, writeKey: '***' }, origin: id === 'web' ? 'file' : 'api' }),
)

export const status = (destinations: readonly ConfigObject[]): InstallationStatus => {
  const count = (state: string): number => destinations.filter(each => each.state === state).length
  return {
    ...{ at: new Date().toISOString(), version: '0.2.0' },
    groups: [
      {
        group: 'hookline.dispatcher',
        topics: [
          { topic: 'hookline.events', lag: 128 },
          { topic: 'hookline.retry.10s', lag: 12 },
        ],
      },
    ],
    waiting: [
      { tier: '10s', records: 1250 },
      { tier: '1m', records: 340 },
      { tier: '10m', records: 12 },
      { tier: '1h', records: 0 },
    ],
    destinations: {
      enabled: count('enabled'),
      paused: count('paused'),
      disabled: count('disabled'),
      excluded: count('excluded'),
    },
    sources: { enabled: 2, excluded: 0 },
    problems: destinations
      .filter(({ problems }) => problems.length > 0)
      .map(({ id, problems }) => ({ kind: 'destination', id, conflict: false, problems })),
    rates: { admittedPerSecond: 812.4 + Math.random() * 50, deliveredPerSecond: 790.2, failedPerSecond: 3.5 },
    openBreakers: [failingId],
    services: [
      {
        ...{ instance: 'hookline-dispatcher-0', services: ['dispatcher', 'audiences'], version: '0.2.0' },
        ...{ startedAt: minutesAgo(3000), seenAt: minutesAgo(0), partitions: 4 },
      },
      {
        ...{ instance: 'hookline-collector-7f9c8b6d5-x2x4q', services: ['collector'], version: '0.2.0' },
        ...{ startedAt: minutesAgo(200), seenAt: minutesAgo(0), partitions: 0 },
      },
    ],
  }
}

const failures: readonly Attempt[] = Array.from({ length: 12 }, (_, index) => ({
  ...{ at: minutesAgo(index * 3), number: (index % 5) + 1, outcome: index % 4 === 3 ? 'timeout' : 'http_5xx' },
  messageId: index === 0 ? failedMessage : `ajs-next-17641200${index}-0f0c2e-7b1d-4d0a-9b52-8a4de3a6f0aa`,
  ...(index % 4 === 3 ? {} : { status: 503 }),
  ...{ durationMs: index % 4 === 3 ? 3000 : 120 + index, decision: 'retried', webhook: 'main' },
}))

export const destinationStatus = ({ id, state, version, problems }: ConfigObject): DestinationStatus => {
  const isFailing = id === failingId
  const none = { delivered: 0, failed: 0, deadLettered: 0, dropped: 0 }
  return {
    ...{ id, state, version, problems },
    waiting: isFailing ? [{ tier: '10m', records: 12, oldestAt: minutesAgo(9) }] : [],
    circuitBreaker: isFailing ? { state: 'open', nextProbeAt: minutesAgo(-1) } : { state: 'closed' },
    ...{ requestsInProgress: isFailing ? 0 : 3, inMemory: isFailing ? 120 : 0 },
    ...(isFailing && { pausedUntil: minutesAgo(-3) }),
    results: {
      lastHour: isFailing ? { delivered: 120, failed: 340, deadLettered: 3, dropped: 4 } : none,
      lastDay: isFailing ? { delivered: 48_210, failed: 402, deadLettered: 3, dropped: 96 } : none,
    },
    lastFailures: isFailing ? failures : [],
  }
}

export const deadLetters = (): DeadLetterDetail[] =>
  Array.from({ length: 3 }, (_, index) => ({
    ...{ key: `2-${1041 + index}`, at: minutesAgo(2 + index), destination: failingId, reason: 'retries_exhausted' },
    ...{ outcome: 'http_5xx', sourceId: 'web', type: 'track', attempts: 6, position: { partition: 2, offset: 1041 } },
    messageId: index === 0 ? failedMessage : `ajs-next-17641201${index}`,
    headers: { reason: 'retries_exhausted', destination: failingId },
    body: { type: 'track', event: 'Order Completed', userId: 'u-17', properties: { total: 99.5, html: '<b>x</b>' } },
  }))

/** Results in every second hour. */
export const ledger = (destination: string): Ledger => {
  const hour = (index: number): string =>
    new Date(Date.parse('2026-11-25T03:00:00.000Z') + index * 3_600_000).toISOString()
  return {
    ...{ since: hour(0), until: hour(24), exactSince: hour(2) },
    rows: Array.from({ length: 12 }, (_, index) => ({
      ...{ hour: hour(index * 2 + 1), destination, delivered: 900 + index * 40 },
      ...{ deadLettered: index % 3, dropped: 120, waiting: index === 11 ? 48 : 0 },
    })),
  }
}

/** Preview of the requests for a message, or for a replay of a dead letter. */
export const requestPreview: RequestPreview = {
  requests: [
    {
      ...{ webhook: 'main', url: 'https://hooks.example.com/***' },
      headers: { 'Content-Type': 'application/json', Authorization: '***', 'X-Signature': '***' },
    },
  ],
  body: '{"version":1,"type":"track","userId":"u-17","event":"Order Completed"}',
}

export const timeline: MessageTimeline = {
  id: failedMessage,
  searchedSince: minutesAgo(7 * 24 * 60),
  event: { sourceId: 'web', type: 'track', event: 'Order Completed', receivedAt: minutesAgo(65) },
  records: [
    { topic: 'hookline.events', partition: 2, offset: 90_411, at: minutesAgo(65), kind: 'event' },
    {
      ...{ topic: 'hookline.dead-letter', partition: 2, offset: 1041, at: minutesAgo(2), kind: 'dead_letter' },
      destination: failingId,
    },
  ],
  destinations: [
    {
      ...{ id: failingId, state: 'dead_lettered', deadLetterKey: '2-1041' },
      attempts: [65, 64, 54, 4].map((minutes, index, all) => ({
        ...{ at: minutesAgo(minutes), number: index + 1, outcome: 'http_5xx', status: 503, durationMs: 130 },
        ...(index === all.length - 1
          ? { decision: 'dead_lettered', reason: 'retries_exhausted' }
          : { decision: 'retried' }),
        webhook: 'main',
      })),
    },
    {
      ...{ id: 'billing', state: 'delivered', inferred: true },
      attempts: [
        { at: minutesAgo(65), number: 1, outcome: 'delivered', status: 200, durationMs: 85, decision: 'delivered' },
      ],
    },
    {
      ...{ id: 'analytics', state: 'waiting', attempts: [], reason: 'paused' },
      waiting: { tier: '10m', dueAt: minutesAgo(-8) },
    },
  ],
}

export const changes: readonly ObjectChange[] = [
  {
    ...{ kind: 'destination', id: failingId, version: 3, action: 'updated', by: 'ada', at: minutesAgo(90) },
    fields: ['policy.ratePerSecond', 'webhooks[0].url'],
  },
  { kind: 'destination', id: 'old-crm', version: 5, action: 'deleted', by: 'ada', fields: [], at: minutesAgo(400) },
  {
    kind: 'source',
    id: 'mobile',
    version: 1,
    action: 'created',
    by: 'grace',
    fields: ['writeKey'],
    at: minutesAgo(4000),
  },
]

export const audiences = [
  {
    ...{ name: 'Shoppers', kind: 'audience', property: 'is_shopper', configured: true },
    lastSync: { syncId: 1_835_000_000_000_000, beganAt: minutesAgo(600) },
    destinations: [
      { id: 'billing', members: 120_411, acknowledged: 120_400, inFlight: 8, unknown: 1, different: 2 },
      { id: failingId, members: 120_411, acknowledged: 100_000, inFlight: 20_411, unknown: 0, different: 0 },
    ],
  },
  {
    name: 'Lifetime value',
    kind: 'trait',
    property: 'ltv',
    configured: true,
    lastSync: null,
    destinations: [],
  },
]

export const earlierJobs = (): (Replay | Resend)[] => [
  {
    ...{ id: 'r-20261125-1', kind: 'replay', state: 'done', createdAt: minutesAgo(900), createdBy: 'ada' },
    ...{ startedAt: minutesAgo(900), endedAt: minutesAgo(898), filters: { destination: failingId } },
    progress: { seen: 1200, total: 1200, replayed: 1190, refused: 10 },
  },
  {
    ...{ id: 's-20261126-1', kind: 'resend', state: 'running', createdAt: minutesAgo(3), createdBy: 'ada', rate: 500 },
    ...{ startedAt: minutesAgo(3), destination: 'billing', since: minutesAgo(180), until: minutesAgo(120) },
    progress: { read: 41_200, total: 100_000, sent: 40_800, skipped: 400 },
    missing: [{ partition: 1, firstOffset: 20_110 }],
  },
]
