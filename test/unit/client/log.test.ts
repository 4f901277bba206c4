import { describe, expect, it } from '@jest/globals'
import { failureOf } from '../../../packages/client/src/failure.ts'
import { createLog, isDebugging } from '../../../packages/client/src/log.ts'
import { entry, ManualClientClock } from '../../support/client/sender-harness.ts'

const failure = (code: string, count = 1) =>
  failureOf(
    'refused',
    { code, detail: 'The endpoint answered.' },
    Array.from({ length: count }, (_, n) => entry(`m${n}`)),
  )

function logging(debugging = false) {
  const clock = new ManualClientClock()
  const lines: string[] = []
  return { clock, lines, log: createLog({ write: line => lines.push(line), clock, debugging }) }
}

describe('failures without a listener', () => {
  it('are logged with a remedy', () => {
    const { log, lines } = logging()
    log.failure(failure('http_401', 20))
    expect(lines).toEqual([
      "hookline analytics: 20 messages not delivered: refused (http_401). The endpoint answered. Set 'onFailure' to handle these messages.\n",
    ])
  })

  it('are logged once per minute and kind, with a count of the others', async () => {
    const { log, lines, clock } = logging()
    log.failure(failure('http_401'))
    log.failure(failure('http_401', 5))
    log.failure(failure('http_400'))
    await clock.advance(59_999)
    log.failure(failure('http_401', 2))
    expect(lines).toHaveLength(2)
    await clock.advance(1)
    log.failure(failure('http_401'))
    expect(lines[2]).toContain(
      '1 message not delivered: refused (http_401). The endpoint answered. Earlier failures with the same cause that were not logged: 7 messages.',
    )
  })
})

describe('DEBUG=analytics', () => {
  it.each([
    ['analytics', true],
    ['http, analytics', true],
    ['http analytics', true],
    ['*', true],
    ['', false],
    [undefined, false],
    ['http', false],
    ['analytics-next', false],
  ])('%j', (debug, expected) => {
    expect(isDebugging(debug)).toBe(expected)
  })

  it('creates lines only when debugging', () => {
    const off = logging()
    off.log.debug(() => {
      throw new Error('made')
    })
    const on = logging(true)
    on.log.debug(() => 'sent 3')
    expect([off.lines, on.lines]).toEqual([[], ['analytics: sent 3\n']])
  })
})
