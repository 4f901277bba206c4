import { describe, expect, it } from '@jest/globals'
import { CircuitBreaker } from '../../../../src/core/flow/circuit-breaker.ts'

const failure = { failed: true, wasProbe: false, isConclusive: true }
const success = { failed: false, wasProbe: false, isConclusive: true }
const probe = (failed: boolean) => ({ failed, wasProbe: true, isConclusive: true })

function broken(at = 0): CircuitBreaker {
  const breaker = new CircuitBreaker()
  for (let count = 0; count < 10; count++) breaker.ended(failure, at)
  return breaker
}

describe('a closed breaker', () => {
  it.each([
    ['70 of 100', 70, 30, true],
    ['69 of 100', 69, 31, false],
  ])('%s', (_name, failures, successes, opens) => {
    const breaker = new CircuitBreaker()
    for (let count = 0; count < successes; count++) breaker.ended(success, 0)
    for (let count = 0; count < failures; count++) breaker.ended(failure, 0)
    expect(breaker.refuses(0)).toBe(opens)
    expect(breaker.isOpen).toBe(opens)
  })

  it('forgets results older than a minute', () => {
    const breaker = new CircuitBreaker()
    for (let count = 0; count < 9; count++) breaker.ended(failure, 0)
    breaker.ended(failure, 60_000)
    expect(breaker.isOpen).toBe(false)
  })

  it('keeps younger results', () => {
    const breaker = new CircuitBreaker()
    for (let count = 0; count < 9; count++) breaker.ended(failure, 4_999)
    breaker.ended(failure, 59_999)
    expect(breaker.isOpen).toBe(true)
  })

  it('does not open on a success, even after many failures', () => {
    const breaker = new CircuitBreaker()
    for (let count = 0; count < 9; count++) breaker.ended(failure, 0)
    breaker.ended(success, 0)
    expect(breaker.isOpen).toBe(false)
  })
})

describe('an open breaker', () => {
  it('closes when the probe succeeds, with empty counts', () => {
    const breaker = broken()
    breaker.begins(30_000)
    breaker.ended(probe(false), 30_100)
    expect(breaker.refuses(30_100)).toBe(false)
    for (let count = 0; count < 9; count++) breaker.ended(failure, 30_200)
    expect(breaker.isOpen).toBe(false)
  })

  it('ignores a failure of an attempt that started before it opened', () => {
    const breaker = broken()
    breaker.begins(30_000)
    breaker.ended(failure, 31_000)
    expect(breaker.refuses(31_000)).toBe(true)
    breaker.ended(probe(false), 32_000)
    expect(breaker.isOpen).toBe(false)
  })

  it('closes on the success of an attempt that started before it opened', () => {
    const breaker = broken()
    breaker.ended(success, 1_000)
    expect(breaker.isOpen).toBe(false)
  })

  it.each([false, true])('stays open after an attempt without requests, which has no result (probe: %s)', wasProbe => {
    const breaker = broken()
    if (wasProbe) breaker.begins(30_000)
    breaker.ended({ failed: false, wasProbe, isConclusive: false }, 30_100)
    expect([breaker.isOpen, breaker.refuses(29_999)]).toEqual([true, true])
    // The next attempt is the probe.
    expect(breaker.begins(30_100)).toBe(true)
  })

  it('does not count attempts without requests', () => {
    const breaker = new CircuitBreaker()
    for (let count = 0; count < 100; count++) breaker.ended({ failed: false, wasProbe: false, isConclusive: false }, 0)
    for (let count = 0; count < 10; count++) breaker.ended(failure, 0)
    expect(breaker.isOpen).toBe(true)
  })
})
