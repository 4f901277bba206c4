import { describe, expect, it } from '@jest/globals'
import { failureOf, timeoutResult } from '../../../../src/adapters/webhook/call-failure.ts'
import type { ConnectionPhase } from '../../../../src/adapters/webhook/connection-progress.ts'
import { ForbiddenTarget, UnresolvedName } from '../../../../src/adapters/webhook/connection-rules.ts'

const coded = (code: string, message = 'it broke', cause?: unknown): Error =>
  Object.assign(new Error(message, { cause }), { code })
const refused = coded('ECONNREFUSED', 'connect ECONNREFUSED 192.0.2.1:443')

describe('failureOf', () => {
  it.each<[string, Error, ConnectionPhase, string, string, string]>([
    ['a plain error', refused, 'connect', 'connect', 'ECONNREFUSED', 'connect ECONNREFUSED 192.0.2.1:443'],
    [
      'a wrapped error',
      coded('ERR_GOT', 'wrapped', coded('ERR_X', 'again', refused)),
      'connect',
      'connect',
      'ECONNREFUSED',
      'connect ECONNREFUSED 192.0.2.1:443',
    ],
    [
      'a forbidden target, in any step of the connection',
      coded('ERR_GOT', 'x', new ForbiddenTarget('ERR_FORBIDDEN_PORT', 'port 25 is refused')),
      'connect',
      'address',
      'ERR_FORBIDDEN_PORT',
      'port 25 is refused',
    ],
    [
      'an unresolved name',
      new UnresolvedName('a.example', coded('ESERVFAIL', 'queryA ESERVFAIL')),
      'connect',
      'dns',
      'ESERVFAIL',
      'host name a.example could not be resolved: queryA ESERVFAIL',
    ],
    [
      'several addresses',
      Object.assign(new AggregateError([refused, coded('ETIMEDOUT', 'connect ETIMEDOUT ::1')]), {
        code: 'ECONNREFUSED',
      }),
      'connect',
      'connect',
      'ECONNREFUSED',
      'connect ECONNREFUSED 192.0.2.1:443; connect ETIMEDOUT ::1',
    ],
    ['a cut head', coded('HPE_INVALID_EOF_STATE', 'Parse Error'), 'exchange', 'exchange', 'ECONNRESET', 'Parse Error'],
    [
      'a connection that undici found closed',
      coded('UND_ERR_SOCKET', 'other side closed'),
      'exchange',
      'exchange',
      'ECONNRESET',
      'other side closed',
    ],
    [
      'a head that undici finds too long',
      coded('UND_ERR_HEADERS_OVERFLOW', 'Headers Overflow Error'),
      'exchange',
      'exchange',
      'HPE_HEADER_OVERFLOW',
      'Headers Overflow Error',
    ],
    [
      'data that undici cannot parse',
      Object.assign(new Error('no HTTP'), { name: 'HTTPParserError' }),
      'exchange',
      'exchange',
      'HPE_INVALID_RESPONSE',
      'no HTTP',
    ],
    ['an error without a code', new RangeError('out of it'), 'exchange', 'exchange', 'RangeError', 'out of it'],
    [
      'a text of several lines from a peer',
      coded('EPROTO', 'alert\n\r\u001b[31m number 40\u0085\n'),
      'tls',
      'tls',
      'EPROTO',
      'alert [31m number 40',
    ],
  ])('%s', (_name, error, during, phase, code, detail) => {
    expect(failureOf(error, during)).toEqual({ kind: 'failed', phase, code, detail })
  })

  it('limits the text of a peer to 300 characters', () => {
    expect(failureOf(coded('X', 'a'.repeat(10_000)), 'tls').detail).toHaveLength(300)
  })
})

describe('timeoutResult', () => {
  it.each<[ConnectionPhase, string]>([
    ['dns', 'timed out after 5s while resolving the host name'],
    ['connect', 'timed out after 5s while connecting to the endpoint'],
    ['tls', 'timed out after 5s during the TLS handshake'],
    ['exchange', 'timed out after 5s while waiting for the response headers'],
  ])('%s', (phase, detail) => {
    expect(timeoutResult(phase, '5s')).toEqual({ kind: 'failed', phase: 'deadline', code: 'ETIMEDOUT', detail })
  })
})
