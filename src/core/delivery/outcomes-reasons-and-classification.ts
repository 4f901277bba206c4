import { assertNever } from '../assert-never.ts'
import type { CallPhase, CallResult } from '../webhook-ports.ts'

/** Outcomes of a request after which Hookline may repeat the request to the same webhook. */
export const retryableOutcomes = [
  'http_408',
  'http_429',
  'http_5xx',
  'timeout',
  'dns',
  'connect',
  'proxy',
  'reset',
  'tls_other',
  'bad_response',
  'auth',
  'internal',
] as const

/**
 * Outcomes after which Hookline does not repeat the request to the same webhook for this delivery.
 */
export const refusedOutcomes = ['http_3xx', 'http_4xx', 'tls_untrusted', 'blocked_address'] as const

export type RetryableOutcome = (typeof retryableOutcomes)[number]
export type RefusedOutcome = (typeof refusedOutcomes)[number]
/** The outcomes of a request that failed. */
export const failedOutcomes = [...retryableOutcomes, ...refusedOutcomes] as const
/** The possible outcomes of one request, as in metric labels, log fields and headers. */
export const outcomes = ['delivered', ...failedOutcomes] as const
export type Outcome = (typeof outcomes)[number]

/** Why a record is in the dead-letter topic. */
export const deadLetterReasons = [
  ...refusedOutcomes,
  'retries_exhausted',
  'retry_window_over',
  'retry_after_exceeds_window',
  'undecodable',
  'invalid_message',
  'unknown_source',
  'unknown_destination',
  'record_too_large',
] as const
export type DeadLetterReason = (typeof deadLetterReasons)[number]

/**
 * Why an event is intentionally not delivered to a destination. Drops are logged only at level
 * debug.
 */
export const dropReasons = [
  'disabled',
  'not_selected',
  'filtered',
  'no_destination',
  'user_deleted',
  'suppressed',
] as const
export type DropReason = (typeof dropReasons)[number]

/** The causes for which a delivery is deferred: it waits in a retry topic without an attempt. */
export const deferralCauses = [
  'lane_full',
  'breaker_open',
  'not_before',
  'paused',
  'handover',
  'unconfigured',
  'auth',
] as const
export type DeferralCause = (typeof deferralCauses)[number]

/**
 * Error codes of OpenSSL (`UNSPECIFIED`: an error without a name) and Node for a certificate that
 * is not trusted.
 */
const untrustedCodes = new Set([
  'CERT_CHAIN_TOO_LONG',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REJECTED',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'CRL_HAS_EXPIRED',
  'CRL_NOT_YET_VALID',
  'CRL_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_FORMAT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERROR_IN_CERT_NOT_AFTER_FIELD',
  'ERROR_IN_CERT_NOT_BEFORE_FIELD',
  'ERROR_IN_CRL_LAST_UPDATE_FIELD',
  'ERROR_IN_CRL_NEXT_UPDATE_FIELD',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'PATH_LENGTH_EXCEEDED',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY',
  'UNABLE_TO_DECRYPT_CERT_SIGNATURE',
  'UNABLE_TO_DECRYPT_CRL_SIGNATURE',
  'UNABLE_TO_GET_CRL',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNSPECIFIED',
])

/** Error codes for a connection that ended before the head of the response was complete. */
const resetCodes = new Set([
  'ECONNABORTED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETRESET',
  'ENETUNREACH',
  'ENOTCONN',
  'EPIPE',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ETIMEDOUT',
  'UND_ERR_SOCKET',
])

/**
 * Error codes of the HTTP parsers: the response is not HTTP, or its head is longer than allowed.
 */
const badResponseCode = /^(HPE_|UND_ERR_HEADERS_OVERFLOW$|ERR_HTTP_INVALID_STATUS_CODE$)/
/**
 * Error codes of TLS after the handshake. For example, a TLS 1.3 server reports a missing client
 * certificate only after the handshake.
 */
const tlsAlertCode = /^(EPROTO$|ERR_SSL_|ERR_TLS_)/

/** Whether an error code means that TLS failed, so that the server did not get the request. */
export const isTlsFailure = (code: string): boolean => untrustedCodes.has(code) || tlsAlertCode.test(code)

export function classify(result: CallResult): Outcome {
  return result.kind === 'answered' ? classifyStatus(result.status) : classifyFailure(result.phase, result.code)
}

function classifyStatus(status: number): Outcome {
  if (status >= 200 && status <= 299) return 'delivered'
  if (status >= 300 && status <= 399) return 'http_3xx'
  if (status === 408) return 'http_408'
  if (status === 429) return 'http_429'
  if (status >= 400 && status <= 499) return 'http_4xx'
  return status >= 500 && status <= 599 ? 'http_5xx' : 'bad_response'
}

function classifyFailure(phase: CallPhase, code: string): Outcome {
  switch (phase) {
    case 'auth':
      return 'auth'
    case 'address':
      return 'blocked_address'
    case 'deadline':
      return 'timeout'
    case 'dns':
    case 'connect':
    case 'proxy':
      return phase
    case 'tls':
      return untrustedCodes.has(code) ? 'tls_untrusted' : 'tls_other'
    case 'exchange':
      return classifyExchange(code)
    default:
      return assertNever(phase)
  }
}

function classifyExchange(code: string): Outcome {
  if (resetCodes.has(code)) return 'reset'
  if (badResponseCode.test(code)) return 'bad_response'
  if (tlsAlertCode.test(code)) return 'tls_other'
  return 'internal'
}

const retryable: ReadonlySet<string> = new Set(retryableOutcomes)
const refused: ReadonlySet<string> = new Set(refusedOutcomes)

/**
 * Whether an outcome depends on the endpoint. `auth` and `proxy` do not: Hookline had no valid
 * access token, or the proxy failed.
 */
export const isOfEndpoint = (outcome: Outcome): boolean => outcome !== 'auth' && outcome !== 'proxy'

/** Whether Hookline may repeat a request with this outcome to the same webhook. */
export function isRetryable(outcome: string): outcome is RetryableOutcome {
  return retryable.has(outcome)
}

/** Whether Hookline does not repeat the request to the same webhook for this delivery. */
export function isRefused(outcome: string): outcome is RefusedOutcome {
  return refused.has(outcome)
}
