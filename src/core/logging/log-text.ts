/**
 * What may stand in the log: facts under these names, and no others. What a log line is about has a name here; what senders and customers
 * write (users, what messages say, URLs, headers, keys) has none, so that it cannot get in by mistake.
 */
const names = [
  // Where and which.
  ...[
    'part',
    'group',
    'topic',
    'topics',
    'partition',
    'partitions',
    'offset',
    'position',
    'from',
    'to',
    'beginning',
    'end',
  ],
  ...['source', 'sources', 'destination', 'webhook', 'messageId', 'type', 'audience', 'syncId', 'id', 'schemaId'],
  ...['address', 'port', 'route', 'connections', 'keys', 'changed', 'problems', 'mode', 'suppress', 'level'],
  // What came of it.
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
  // How much and how long.
  ...[
    'records',
    'stale',
    'messages',
    'users',
    'received',
    'dropped',
    'bytes',
    'count',
    'members',
    'memberships',
    'marks',
    'open',
  ],
  ...['nextAttemptInMs', 'elapsedMs', 'lastedMs', 'waitedMs', 'retryInMs', 'tookMs', 'ageMs', 'silenceMs', 'seconds'],
  // Of the audit log.
  ...['audit', 'key', 'role', 'action', 'requestId', 'result', 'lines'],
  // Of traces.
  ...['traceId', 'spans'],
  // Of the Kafka library.
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

/** Stands for what may not be logged. */
export const withheld = '***'

/**
 * The facts of a line as they are logged: what has no name of ours is withheld, and of URLs only the origin is left. Most may stand as they
 * are, and are not copied: while an endpoint fails there is a line for each attempt.
 */
export function loggable(facts: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (Object.keys(facts).every(name => allowed.has(name) && mayStand(facts[name]))) return facts
  const told: Record<string, unknown> = {}
  for (const name of Object.keys(facts)) told[name] = allowed.has(name) ? withOrigins(facts[name]) : withheld
  return told
}

/** What holds no URL; and what turns itself into JSON, a secret for example, knows how. */
function mayStand(value: unknown): boolean {
  if (typeof value === 'string') return !hasUrl(value)
  return typeof value !== 'object' || value === null || 'toJSON' in value || Object.values(value).every(mayStand)
}

function withOrigins(value: unknown): unknown {
  if (mayStand(value)) return value
  if (typeof value === 'string') return withoutPaths(value)
  if (Array.isArray(value)) return value.map(withOrigins)
  return Object.fromEntries(Object.entries(value as object).map(([name, each]) => [name, withOrigins(each)]))
}

/** From the `://` on: to look for the beginning of a scheme would take time quadratic in the length of `a+a+a+…`. */
const urls = /:\/\/(?:[^\s/?#@"'<>]*@)?([^\s/?#"'<>]*)([/?#][^\s"'<>]*)?/g

/** A text with no more of each URL than where it goes to: credentials, path and query may be secrets. */
export function withoutPaths(text: string): string {
  return hasUrl(text) ? text.replace(urls, (_, host: string, rest?: string) => `://${host}${rest ? '/…' : ''}`) : text
}

const hasUrl = (text: string): boolean => text.includes('://')
