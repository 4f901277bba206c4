import { describe, expect, it } from '@jest/globals'
import { type Evidence, evidenceOf, FailureCounter } from '../../../../src/core/auto-disable/failure-counter.ts'
import { type Outcome, outcomes } from '../../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import { epochMs } from '../../../../src/core/time.ts'

const webhook = { label: '0', url: 'https://a.example', urlHash: 'aaaaaaaa', headers: {}, traceHeaders: false }
const attempt = (...given: Outcome[]) => ({
  calls: given.map(outcome => ({ webhook, outcome, retryAfter: undefined })),
  isHeldUpByOthers: false,
})

describe('the evidence of an attempt', () => {
  const expected: Record<Outcome, Evidence> = {
    delivered: 'works',
    http_3xx: 'fails',
    http_408: 'fails',
    http_429: 'nothing',
    http_4xx: 'fails',
    http_5xx: 'fails',
    timeout: 'fails',
    dns: 'fails',
    connect: 'fails',
    reset: 'fails',
    tls_other: 'fails',
    tls_untrusted: 'fails',
    bad_response: 'fails',
    proxy: 'nothing',
    auth: 'nothing',
    internal: 'nothing',
    blocked_address: 'nothing',
  }

  it.each(outcomes.map(outcome => [outcome, expected[outcome]] as const))('%s: %s', (outcome, evidence) => {
    expect(evidenceOf(attempt(outcome))).toBe(evidence)
  })

  it.each<[Outcome[], Evidence]>([
    [[], 'nothing'],
    [['http_5xx', 'delivered'], 'works'],
    [['http_5xx', 'http_4xx'], 'fails'],
    [['http_5xx', 'http_429'], 'nothing'],
    [['http_5xx', 'proxy'], 'nothing'],
    [['timeout', 'internal'], 'nothing'],
  ])('%j: %s', (given, evidence) => {
    expect(evidenceOf(attempt(...given))).toBe(evidence)
  })

  it('an attempt without a permit that others hold: nothing', () => {
    expect(evidenceOf({ ...attempt('http_5xx'), isHeldUpByOthers: true })).toBe('nothing')
  })
})

describe('the failures that a process has seen', () => {
  const at = (ms: number) => epochMs(ms)

  it('are counted with their first and last time, and taken once', () => {
    const counter = new FailureCounter()
    counter.failed(at(1))
    counter.gone('a', at(2))
    counter.gone('a', at(3))
    counter.failed(at(4))
    const seen = { attempts: 2, firstAt: at(1), lastAt: at(4), gone: ['a'] }
    expect(counter.take()).toMatchObject(seen)
    expect(counter.hasFailures).toBe(false)
    expect(counter.take()).toMatchObject({ attempts: 0, gone: [] })
  })

  it('do not count when a success follows', () => {
    const counter = new FailureCounter()
    counter.failed(at(1))
    counter.reset(at(2))
    expect(counter.hasFailures).toBe(false)
    counter.failed(at(3))
    expect(counter.take()).toMatchObject({ attempts: 1, firstAt: at(3), lastAt: at(3), resetAt: at(2) })
  })

  it('are added again when they were not written', () => {
    const counter = new FailureCounter()
    counter.failed(at(1))
    const seen = counter.take()
    counter.failed(at(5))
    counter.restore(seen)
    expect(counter.take()).toMatchObject({ attempts: 2, firstAt: at(1), lastAt: at(5) })
    counter.reset(at(6))
    counter.restore(seen)
    expect(counter.hasFailures).toBe(false)
  })
})
