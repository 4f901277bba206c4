import { describe, expect, it } from '@jest/globals'
import { failureOf, timeIsOver } from '../../../../src/adapters/webhook/call-failure.ts'
import type { ConnectionPhase } from '../../../../src/adapters/webhook/connection-progress.ts'
import { ForbiddenTarget, UnresolvedName } from '../../../../src/adapters/webhook/dial.ts'

const coded = (code: string, message = 'it broke', cause?: unknown): Error =>
  Object.assign(new Error(message, { cause }), { code })
const refused = coded('ECONNREFUSED', 'connect ECONNREFUSED 192.0.2.1:443')

describe('failureOf', () => {
  it.each<[string, Error, ConnectionPhase, string, string, string]>([
    ['a plain error', refused, 'connect', 'connect', 'ECONNREFUSED', 'connect ECONNREFUSED 192.0.2.1:443'],
    [
      'a wrapped one',
      coded('ERR_GOT', 'wrapped', coded('ERR_X', 'again', refused)),
      'connect',
      'connect',
      'ECONNREFUSED',
      'connect ECONNREFUSED 192.0.2.1:443',
    ],
    [
      'a refused target, whatever the connection was at',
      coded('ERR_GOT', 'x', new ForbiddenTarget('ERR_FORBIDDEN_PORT', 'port 25 is refused')),
      'connect',
      'address',
      'ERR_FORBIDDEN_PORT',
      'port 25 is refused',
    ],
    [
      'a name',
      new UnresolvedName('a.example', coded('ESERVFAIL', 'queryA ESERVFAIL')),
      'connect',
      'dns',
      'ESERVFAIL',
      'name a.example could not be resolved: queryA ESERVFAIL',
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
    ['half a head', coded('HPE_INVALID_EOF_STATE', 'Parse Error'), 'exchange', 'exchange', 'ECONNRESET', 'Parse Error'],
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
      'what undici cannot parse',
      Object.assign(new Error('no HTTP'), { name: 'HTTPParserError' }),
      'exchange',
      'exchange',
      'HPE_INVALID_RESPONSE',
      'no HTTP',
    ],
    ['no code', new RangeError('out of it'), 'exchange', 'exchange', 'RangeError', 'out of it'],
    [
      'several lines of a peer',
      coded('EPROTO', 'alert\n\r\u001b[31m number 40\u0085\n'),
      'tls',
      'tls',
      'EPROTO',
      'alert [31m number 40',
    ],
  ])('%s', (_name, error, during, phase, code, detail) => {
    expect(failureOf(error, during)).toEqual({ kind: 'failed', phase, code, detail })
  })

  it('a peer cannot fill the log', () => {
    expect(failureOf(coded('X', 'a'.repeat(10_000)), 'tls').detail).toHaveLength(300)
  })
})

describe('timeIsOver', () => {
  it.each<[ConnectionPhase, string]>([
    ['dns', '5s were over before its name was resolved'],
    ['connect', '5s were over before it was connected'],
    ['tls', '5s were over before the TLS handshake was done'],
    ['exchange', '5s were over before the head of its answer was complete'],
  ])('%s', (phase, detail) => {
    expect(timeIsOver(phase, '5s')).toEqual({ kind: 'failed', phase: 'deadline', code: 'ETIMEDOUT', detail })
  })
})
