import type { CallPhase, CallResult } from '../../core/webhook-ports.ts'
import type { ConnectionPhase } from './connection-progress.ts'
import { ForbiddenTarget, UnresolvedName, UnusableIdentity } from './connection-rules.ts'
import { TunnelFailure } from './proxy-tunnel.ts'
import { CertificateRefusedBefore } from './tls-sessions-and-certificate-refusals.ts'

type Failed = CallResult & { kind: 'failed' }

/** The words for each phase in the log line of a timeout. */
const activityIn: Record<ConnectionPhase, string> = {
  dns: 'while resolving the host name',
  proxy: 'while connecting to the proxy',
  tunnel: 'while waiting for the proxy to connect to the endpoint',
  connect: 'while connecting to the endpoint',
  tls: 'during the TLS handshake',
  exchange: 'while waiting for the response headers',
}

/**
 * The result of a request that reached its deadline in `phase`. The result has the phase `proxy`
 * only if Hookline was connecting to the proxy. If the proxy was connecting to the endpoint
 * (`tunnel`), the result has the phase `deadline`, because the endpoint is usually the cause.
 */
export const timeoutResult = (phase: ConnectionPhase, after: string): Failed => ({
  kind: 'failed',
  phase: phase === 'proxy' ? 'proxy' : 'deadline',
  code: 'ETIMEDOUT',
  detail: `timed out after ${after} ${activityIn[phase]}`,
})

/** The result of a request whose connection failed with this error in `phase`. */
export function failureOf(error: Error, phase: ConnectionPhase): Failed {
  const cause = rootOf(error)
  return { kind: 'failed', phase: phaseOf(cause, phase), code: codeOf(cause), detail: oneLine(cause) }
}

/**
 * Maps error codes of got and undici to Node's codes, so that operators see the same codes with
 * both clients. The only exception: got reports a specific code for each syntax error, undici does
 * not.
 */
const nodeCodes: ReadonlyMap<string, string> = new Map([
  // The connection closed inside the response head.
  ['HPE_INVALID_EOF_STATE', 'ECONNRESET'],
  ['UND_ERR_SOCKET', 'ECONNRESET'],
  ['UND_ERR_HEADERS_OVERFLOW', 'HPE_HEADER_OVERFLOW'],
  // undici reports syntax errors as `HTTPParserError` or, after a Content-Length header, as a
  // length mismatch.
  ['HTTPParserError', 'HPE_INVALID_RESPONSE'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'HPE_INVALID_RESPONSE'],
])

/** Node's code for the error, or the error's name if the error has no code. */
export function codeOf(error: Error): string {
  const code = String((error as NodeJS.ErrnoException).code ?? error.name)
  return nodeCodes.get(code) ?? code
}

/**
 * The innermost cause of an error. The search stops at Hookline's own errors, which say more than
 * their causes.
 */
export function rootOf(error: Error): Error {
  const { cause } = error
  const isOwn = [UnresolvedName, UnusableIdentity, TunnelFailure].some(type => error instanceof type)
  const isWrapped = !isOwn && typeof cause === 'object' && cause !== null
  return isWrapped ? rootOf(cause as Error) : error
}

function phaseOf(error: Error, phase: ConnectionPhase): CallPhase {
  if (error instanceof ForbiddenTarget) return 'address'
  if (error instanceof TunnelFailure) return error.phase
  if (error instanceof UnresolvedName) return 'dns'
  if (error instanceof UnusableIdentity || error instanceof CertificateRefusedBefore) return 'tls'
  return phase === 'tunnel' ? 'proxy' : phase
}

const longestDetail = 300

/**
 * The error message as one line of limited length. The peer may have written parts of it, for
 * example the names in a certificate.
 */
function oneLine(error: Error): string {
  const { errors } = error as AggregateError
  const text = errors === undefined ? error.message : errors.map((one: Error) => one.message).join('; ')
  return text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, longestDetail)
}
