import type { RecordHeaders } from '../ports.ts'
import type { TraceContext } from './tracer.ts'

/** W3C Trace Context, 3.2: version, id of the trace, id of the span, flags. Later versions may say more behind these. */
const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const nothing = /^0+$/
/** 3.3.1.5: what everybody hands on at least. */
const maxStateLength = 512
const printable = /^[\x20-\x7e]+$/

/** What a `traceparent` says. */
export interface TraceParent {
  /** 32 hex digits. */
  readonly traceId: string
  /** 16 hex digits. */
  readonly spanId: string
  /** Whether whoever began the trace keeps it. */
  readonly isSampled: boolean
}

/** Undefined: there is none, or none that counts. Whoever sends a broken one loses the trace, never the message. */
export function parseTraceparent(text: string | undefined): TraceParent | undefined {
  if (text === undefined) return undefined
  const [, version, traceId = '', spanId = '', flags = '', more] = pattern.exec(text) ?? []
  if (version === undefined || version === 'ff' || nothing.test(traceId) || nothing.test(spanId)) return undefined
  if (version === '00' && more !== undefined) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** As version 00 writes it. */
export function formatTraceparent({ traceId, spanId, isSampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}

/** The place in a trace that headers name, of an HTTP request (in lower case) or of a record; nothing else of them. */
export function traceContextIn(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): TraceContext | undefined {
  const given = text(headers['traceparent'])
  const parsed = parseTraceparent(given)
  return parsed && { traceparent: formatTraceparent(parsed), tracestate: stateIn(text(headers['tracestate'])) }
}

/** For the log: 32 hex digits. */
export const traceIdOf = ({ traceparent }: TraceContext): string | undefined => parseTraceparent(traceparent)?.traceId

/** For exemplars: 32 hex digits; undefined where the trace is not kept, so that nobody is led to what is not there. */
export function keptTraceIdOf({ traceparent }: TraceContext): string | undefined {
  const parsed = parseTraceparent(traceparent)
  return parsed?.isSampled ? parsed.traceId : undefined
}

/** For a record or a request; none without a trace. */
export function traceHeaders(context: TraceContext | undefined): RecordHeaders {
  if (context === undefined) return {}
  const { traceparent, tracestate } = context
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate }
}

const text = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined

/** It may be left out, the trace holds without it (3.3). */
function stateIn(given: string | undefined): string | undefined {
  return given !== undefined && given.length <= maxStateLength && printable.test(given) ? given : undefined
}
