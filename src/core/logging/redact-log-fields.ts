/**
 * Names of the fields that log lines may contain. Never add a field that can hold data of senders
 * or customers.
 */
const names = [
  ...[
    'part',
    'group',
    'topic',
    'topics',
    'partition',
    'partitions',
    'offset',
    'firstOffset',
    'position',
    'from',
    'to',
    'beginning',
    'end',
  ],
  ...['source', 'sources', 'destination', 'webhook', 'messageId', 'type', 'audience', 'syncId', 'id', 'schemaId'],
  ...['address', 'port', 'route', 'connections', 'keys', 'changed', 'problems', 'mode', 'suppress', 'level'],
  // Fields with the result of an operation.
  ...[
    'decision',
    'reason',
    'attempt',
    'outcome',
    'outcomes',
    'code',
    'detail',
    'error',
    'stack',
    'why',
    'cause',
    'kind',
  ],
  // Fields with counts, durations and times.
  ...[
    'perSecond',
    'difference',
    'rows',
    'exactSince',
    'records',
    'stale',
    'messages',
    'users',
    'received',
    'replaced',
    'refused',
    'bytes',
    'count',
    'members',
    'memberships',
    'marks',
    'open',
  ],
  ...[
    'nextAttemptInMs',
    'elapsedMs',
    'lastedMs',
    'waitedMs',
    'retryInMs',
    'retryAfterMs',
    'tookMs',
    'ageMs',
    'failingSince',
    'writtenAt',
    'began',
    'silenceMs',
    'seconds',
  ],
  // Fields of audit lines.
  ...['audit', 'key', 'role', 'session', 'action', 'requestId', 'result', 'lines', 'version', 'fields'],
  ...['dryRun', 'delivered'],
  // Fields about traces.
  ...['traceId', 'spans'],
  // Fields that the Kafka client library writes.
  ...['broker', 'clientId', 'groupId', 'memberId', 'leaderId', 'coordinatorId', 'generationId', 'isLeader'],
  ...[
    'groupProtocol',
    'duration',
    'retryCount',
    'retryTime',
    'correlationId',
    'size',
    'apiName',
    'apiKey',
    'apiVersion',
  ],
] as const

const allowed: ReadonlySet<string> = new Set(names)

export type LogField = (typeof names)[number]

/** Replaces a value that may not be logged. */
export const redacted = '***'

/**
 * Returns the fields for a log line: values of unknown fields are redacted, and URLs are reduced to
 * their origin.
 */
export function loggable(facts: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (Object.keys(facts).every(name => allowed.has(name) && isLoggable(facts[name]))) return facts
  const safe: Record<string, unknown> = {}
  for (const name of Object.keys(facts)) safe[name] = allowed.has(name) ? withOrigins(facts[name]) : redacted
  return safe
}

/** Whether a value contains no URL, or its method `toJSON` hides its content. */
function isLoggable(value: unknown): boolean {
  if (typeof value === 'string') return !hasUrl(value)
  return typeof value !== 'object' || value === null || 'toJSON' in value || Object.values(value).every(isLoggable)
}

function withOrigins(value: unknown): unknown {
  if (isLoggable(value)) return value
  if (typeof value === 'string') return withoutPaths(value)
  if (Array.isArray(value)) return value.map(withOrigins)
  return Object.fromEntries(Object.entries(value as object).map(([name, each]) => [name, withOrigins(each)]))
}

/**
 * Matches a URL from its `://` on. A pattern that also matched the scheme would take quadratic time
 * on `a+a+a+…`.
 */
const urls = /:\/\/(?:[^\s/?#@"'<>]*@)?([^\s/?#"'<>]*)([/?#][^\s"'<>]*)?/g

/** Removes credentials, path and query from each URL in a text, because they may be secrets. */
export function withoutPaths(text: string): string {
  return hasUrl(text) ? text.replace(urls, (_, host: string, rest?: string) => `://${host}${rest ? '/…' : ''}`) : text
}

const hasUrl = (text: string): boolean => text.includes('://')
