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

describe('failures that nobody listens to', () => {
  it('are told, with what to do', () => {
    const { log, lines } = logging()
    log.failure(failure('http_401', 20))
    expect(lines).toEqual([
      "hookline analytics: 20 not delivered, refused (http_401). The endpoint answered. Listen with 'onFailure'.\n",
    ])
  })

  it('once a minute for each kind, and then how many it were', async () => {
    const { log, lines, clock } = logging()
    log.failure(failure('http_401'))
    log.failure(failure('http_401', 5))
    log.failure(failure('http_400'))
    await clock.advance(59_999)
    log.failure(failure('http_401', 2))
    expect(lines).toHaveLength(2)
    await clock.advance(1)
    log.failure(failure('http_401'))
    expect(lines[2]).toContain('1 not delivered, refused (http_401). The endpoint answered. 7 more before that')
  })
})

describe('DEBUG=analytics (B4.2)', () => {
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

  it('lines are made only when they are written', () => {
    const off = logging()
    off.log.debug(() => {
      throw new Error('made')
    })
    const on = logging(true)
    on.log.debug(() => 'sent 3')
    expect([off.lines, on.lines]).toEqual([[], ['analytics: sent 3\n']])
  })
})
