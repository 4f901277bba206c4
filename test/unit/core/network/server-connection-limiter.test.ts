import { describe, expect, it } from '@jest/globals'
import { ConnectionLimiter } from '../../../../src/core/network/server-connection-limiter.ts'

/**
 * `a1` opens connection 1 of address `a`, `a1+` and `a1-` begin and end a request, `a1x` closes it.
 * Returns the last decision.
 */
function lastOf(steps: string, limiter: ConnectionLimiter<string>): string {
  let last = ''
  for (const step of steps.split(' ')) {
    const [, connection = '', address = '', action] = /^((\w)\d)([-+x]?)$/.exec(step) ?? []
    if (action === '+') limiter.startRequest(connection)
    else if (action === '-') limiter.endRequest(connection)
    else if (action === 'x') limiter.close(connection)
    else {
      const admission = limiter.open(connection, address)
      if (admission.kind === 'accepted') last = 'accepted'
      else if (admission.kind === 'replaces') last = `replaces ${admission.idle}`
      else last = `refused by the maximum of the ${admission.maximumOf}`
    }
  }
  return last
}

describe('a limit of 4 connections, and of 3 for each address', () => {
  it.each<[string, steps: string, expected: string]>([
    ['below the maximum', 'a1 a2 a3 b1', 'accepted'],
    ['after another one closed', 'a1 a2 a3 b1 a2x c1', 'accepted'],
    ['an address at its maximum', 'a1 a2 a3 a4', 'refused by the maximum of the address'],
    [
      'an address at its maximum, at the maximum of the server',
      'b1 a1 a2 a3 a4',
      'refused by the maximum of the address',
    ],
    ['the first connection of the address with the most', 'b1 a1 a2 a3 c1', 'replaces a1'],
    ['the new connection counts for its address', 'b1 b2 a1 a2 a3', 'replaces a1'],
    ['the connection that was idle for longer, not the older one', 'a1 a2 a3 b1 a1+ a1- c1', 'replaces a2'],
    ['a connection with a request is not idle', 'a1 a2 a3 b1 a1+ c1', 'replaces a2'],
    ['also with one of two pipelined requests', 'a1 a2 a3 b1 a1+ a1+ a1- c1', 'replaces a2'],
    ['also when it has waited for longer than others', 'a1 a1+ a2 a3 b1 c1', 'replaces a2'],
    ['the next address, if the first has no idle connection', 'c1 b1 a1 a2 a1+ a2+ b1+ d1', 'replaces c1'],
    ['no idle connection', 'a1 a2 b1 b2 a1+ a2+ b1+ b2+ c1', 'refused by the maximum of the server'],
    ['an idle connection after a refusal', 'a1 a2 b1 b2 a1+ a2+ b1+ b2+ c1 a1- c1', 'replaces a1'],
    ['addresses with one connection each: the longest idle', 'a1 b1 c1 d1 a1+ a1- e1', 'replaces b1'],
    ['addresses with two each: the first with two', 'a1 b1 b2 a2 c1', 'replaces b1'],
    ['a replaced connection no longer counts', 'a1 a2 b1 b2 c1 a1x d1', 'replaces b1'],
    ['a closed connection with a request no longer counts', 'a1 a2 a3 b1 a1+ a1x c1', 'accepted'],
  ])('%s', (_, steps, expected) => {
    expect(lastOf(steps, new ConnectionLimiter(4, 3, 1))).toBe(expected)
  })

  it.each<[string, steps: string, expected: string]>([
    ['the longest idle, of an address with fewer', 'b1 a1 a2 a3 c1', 'replaces b1'],
    ['the longest idle, after a request', 'b1 a1 a2 a3 b1+ b1- c1', 'replaces a1'],
    ['a connection with a request is not idle', 'b1 a1 a2 a3 b1+ c1', 'replaces a1'],
  ])('addresses with few connections count as equal: %s', (_, steps, expected) => {
    expect(lastOf(steps, new ConnectionLimiter(4, 4, 3))).toBe(expected)
  })

  it('an address replaces its own connections if it may have all', () => {
    expect(lastOf('a1 a2 a3', new ConnectionLimiter(2, 2, 1))).toBe('replaces a1')
  })
})
