import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { expect, it } from '@jest/globals'
import { createOperatorAuthentication } from '../../../../src/adapters/http/operator-authentication.ts'
import { FailureThrottle } from '../../../../src/core/operator/authentication-failure-throttle.ts'
import { createFindOperatorKey } from '../../../../src/core/operator/operator-keys.ts'
import { createOperatorSessions } from '../../../../src/core/operator/signed-session-tokens.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { ada, dashboard } from '../../../support/operator/session-server.ts'

function authentication() {
  const state = { keys: [ada, dashboard] as readonly (typeof ada | typeof dashboard)[] }
  const gate = createOperatorAuthentication({
    findKey: () => createFindOperatorKey(state.keys),
    sessions: () => createOperatorSessions(state.keys),
    throttle: new FailureThrottle(0),
    clock: { monotonic: () => 0, now: () => epochMs(0) },
  })
  const answerTo = (headers: IncomingHttpHeaders) => {
    const found = gate({ method: 'GET', headers, socket: { remoteAddress: '192.0.2.1' } } as IncomingMessage)
    return found.kind === 'permitted' ? undefined : found.answer
  }
  return { state, answerTo, statusOf: (headers: IncomingHttpHeaders): number => answerTo(headers)?.status ?? 200 }
}

const keyOf = ({ secrets }: typeof ada | typeof dashboard): string => secrets[0].reveal()

it.each([{}, { authorization: 'Basic YTpi' }, { authorization: 'Bearer ' }])(
  'does not count requests without a key as guesses: %j',
  headers => {
    const { statusOf } = authentication()
    for (let count = 0; count < 12; count += 1) expect(statusOf(headers)).toBe(401)
    expect(statusOf({ authorization: `Bearer ${keyOf(ada)}` })).toBe(200)
  },
)

it('ignores the session cookie of a listener on another port of the same host', () => {
  const { state, statusOf } = authentication()
  const begun = createOperatorSessions(state.keys).begin(keyOf(ada), 'id', epochMs(0))
  const cookie = `hookline_session_8091=of.another; hookline_session_8090=${begun?.token}`
  const hosts = ['localhost:8090', '[::1]:8090', 'localhost:8091', 'localhost:8092', 'localhost']
  expect(hosts.map(host => statusOf({ host, cookie }))).toEqual([200, 200, 401, 401, 401])
})

it('deletes only the session cookie of its own port', () => {
  const { answerTo } = authentication()
  const cookie = 'hookline_session_8091=of.another; hookline_session_8090=a.b'
  const answer = answerTo({ host: 'localhost:8090', cookie })
  expect(answer?.headers['set-cookie']).toMatch(/^hookline_session_8090=; Path=\/; Max-Age=0/)
})

it('makes a session wait after its key was removed', () => {
  const { state, statusOf } = authentication()
  const { token } = createOperatorSessions(state.keys).begin(keyOf(dashboard), 'id', epochMs(0)) ?? {}
  const cookie = `hookline_session=${token}`
  expect(statusOf({ cookie })).toBe(200)
  state.keys = [ada]
  const statuses = Array.from({ length: 13 }, () => statusOf({ cookie }))
  expect(statuses).toEqual([...Array(11).fill(401), 429, 429])
})
