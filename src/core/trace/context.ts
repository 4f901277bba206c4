import type { RecordHeaders } from '../ports.ts'

/** The values of the headers that W3C Trace Context defines. */
export interface TraceContext {
  readonly traceparent: string
  readonly tracestate?: string | undefined
}

/**
 * `traceparent` (W3C Trace Context 3.2): version, trace id, span id, flags. Later versions may
 * append fields.
 */
const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const allZeros = /^0+$/
/** Maximum length of `tracestate` in characters; W3C Trace Context 3.3.1.5 requires 512 or more. */
const maxStateLength = 512
/** Maximum number of members of `tracestate` (W3C Trace Context 3.3.1.1). */
const maxStateMembers = 32
/**
 * A member of `tracestate` (W3C Trace Context 3.3.1.3). It may be empty, and have spaces and tabs
 * around it.
 */
const stateMember =
  /^[ \t]*(?:[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e][ \t]*)?$/

/** The content of a `traceparent` header. */
export interface TraceParent {
  /** The id of the trace, 32 hex digits. */
  readonly traceId: string
  /** The id of the span, 16 hex digits. */
  readonly spanId: string
  /** Whether the trace is sampled. */
  readonly isSampled: boolean
}

/** Parses a `traceparent` header. Returns `undefined` when it is missing or invalid. */
export function parseTraceparent(text: string | undefined): TraceParent | undefined {
  if (text === undefined) return undefined
  const [, version, traceId = '', spanId = '', flags = '', more] = pattern.exec(text) ?? []
  if (version === undefined || version === 'ff' || allZeros.test(traceId) || allZeros.test(spanId)) return undefined
  if (version === '00' && more !== undefined) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** Formats a `traceparent` header of version 00. */
export function formatTraceparent({ traceId, spanId, isSampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}

/** Reads the trace context from the headers, whose names are in lower case. */
export function traceContextIn(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): TraceContext | undefined {
  const given = text(headers['traceparent'])
  const parsed = parseTraceparent(given)
  return parsed && { traceparent: formatTraceparent(parsed), tracestate: stateIn(text(headers['tracestate'])) }
}

/** The trace id for log lines, 32 hex digits. */
export const traceIdOf = ({ traceparent }: TraceContext): string | undefined => parseTraceparent(traceparent)?.traceId

/** The trace id for exemplars, 32 hex digits; `undefined` when the trace is not sampled. */
export function sampledTraceIdOf({ traceparent }: TraceContext): string | undefined {
  const parsed = parseTraceparent(traceparent)
  return parsed?.isSampled ? parsed.traceId : undefined
}

/** The headers that carry a trace context in a record or a request. */
export function traceHeaders(context: TraceContext | undefined): RecordHeaders {
  if (context === undefined) return {}
  const { traceparent, tracestate } = context
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate }
}

const text = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined

/**
 * Returns `tracestate` if it is valid (W3C Trace Context 3.3). The check is necessary, because
 * senders choose this text, and webhooks with `traceHeaders` get it.
 */
function stateIn(given: string | undefined): string | undefined {
  if (given === undefined || given.length > maxStateLength || !given.includes('=')) return undefined
  const members = given.split(',')
  return members.length <= maxStateMembers && members.every(member => stateMember.test(member)) ? given : undefined
}
