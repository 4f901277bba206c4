import { describe, expect, it } from '@jest/globals'
import { classify, type Outcome } from '../../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import type { CallPhase } from '../../../../src/core/webhook-ports.ts'

describe('depends on the response status alone', () => {
  it.each<[number, number, Outcome]>([
    [200, 299, 'delivered'],
    [300, 399, 'http_3xx'],
    [400, 407, 'http_4xx'],
    [408, 408, 'http_408'],
    [409, 428, 'http_4xx'],
    [429, 429, 'http_429'],
    [430, 499, 'http_4xx'],
    [500, 599, 'http_5xx'],
    [600, 999, 'bad_response'],
    [100, 199, 'bad_response'],
    [0, 0, 'bad_response'],
  ])('%i to %i: %s', (first, last, outcome) => {
    for (const status of [first, last]) {
      expect(classify({ kind: 'answered', status, retryAfter: '5' })).toBe(outcome)
    }
  })
})

describe('a failure is classified by its phase and its code', () => {
  it.each<[CallPhase, string, Outcome]>([
    ['auth', 'http_4xx', 'auth'],
    ['address', 'ADDRESS_BLOCKED', 'blocked_address'],
    ['deadline', 'DEADLINE', 'timeout'],
    ['dns', 'ENOTFOUND', 'dns'],
    ['dns', 'EAI_AGAIN', 'dns'],
    ['connect', 'ECONNREFUSED', 'connect'],
    ['connect', 'ERR_PROXY_UNREACHABLE_ENDPOINT', 'connect'],
    ['proxy', 'ECONNREFUSED', 'proxy'],
    ['proxy', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'proxy'],
    ['proxy', 'ERR_PROXY_RESPONSE', 'proxy'],
    ['connect', 'ETIMEDOUT', 'connect'],
    ['tls', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'tls_untrusted'],
    ['tls', 'SELF_SIGNED_CERT_IN_CHAIN', 'tls_untrusted'],
    ['tls', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls_untrusted'],
    ['tls', 'UNABLE_TO_GET_ISSUER_CERT', 'tls_untrusted'],
    ['tls', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'tls_untrusted'],
    ['tls', 'CERT_HAS_EXPIRED', 'tls_untrusted'],
    ['tls', 'CERT_NOT_YET_VALID', 'tls_untrusted'],
    ['tls', 'ERR_TLS_CERT_ALTNAME_INVALID', 'tls_untrusted'],
    ['tls', 'UNSPECIFIED', 'tls_untrusted'],
    ['tls', 'ERR_SSL_WRONG_VERSION_NUMBER', 'tls_other'],
    ['tls', 'ECONNRESET', 'tls_other'],
    ['exchange', 'ECONNRESET', 'reset'],
    ['exchange', 'EPIPE', 'reset'],
    ['exchange', 'UND_ERR_SOCKET', 'reset'],
    ['exchange', 'ERR_STREAM_PREMATURE_CLOSE', 'reset'],
    ['exchange', 'HPE_INVALID_CONSTANT', 'bad_response'],
    ['exchange', 'HPE_HEADER_OVERFLOW', 'bad_response'],
    ['exchange', 'UND_ERR_HEADERS_OVERFLOW', 'bad_response'],
    ['exchange', 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'tls_other'],
    ['exchange', 'ERR_INVALID_ARG_TYPE', 'internal'],
    ['exchange', '', 'internal'],
  ])('%s, %s: %s', (phase, code, outcome) => {
    expect(classify({ kind: 'failed', phase, code, detail: 'for the log' })).toBe(outcome)
  })
})
