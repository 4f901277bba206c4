import { describe, expect, it } from '@jest/globals'
import { destinationOf, sourcesFor } from '../destinations-and-dead-letters.ts'
import { answerFindings } from '../operator-answer-times.ts'

describe('the dead letters of the row operator', () => {
  it('belong half to ten busy destinations, and half evenly to half of the others', () => {
    const sources = sourcesFor(10_000)
    const counts = new Map<number, number>()
    for (let number = 0; number < 100_000; number++) {
      const destination = destinationOf(number, sources)
      counts.set(destination, (counts.get(destination) ?? 0) + 1)
    }
    const [busy, others] = [
      [...counts].filter(([destination]) => destination < 10),
      [...counts].filter(([destination]) => destination >= 10),
    ]
    expect(new Set(busy.map(([, count]) => count))).toEqual(new Set([5_000]))
    expect(others).toHaveLength(5_000)
    expect(new Set(others.map(([, count]) => count))).toEqual(new Set([10]))
    expect(Math.max(...counts.keys())).toBeLessThan(10_000)
  })
})

describe('the figures of answers', () => {
  const complete = (ms: number) => ({ ms, isPartial: false })
  const partial = (ms: number) => ({ ms, isPartial: true })
  const measured = (answers: Parameters<typeof answerFindings>[1]) =>
    Object.fromEntries(answerFindings('x', answers).map(finding => [finding.what, finding.measured]))

  it('judge only answers that are not partial', () =>
    expect(measured([complete(100), complete(200), partial(5_000), partial(6_000)])).toEqual({
      p50: 200,
      p95: 6_000,
      slowest: 6_000,
      'share of partial responses (1: all)': 0.5,
      'p95 of complete responses': 200,
    }))

  it('have no judged figure when all answers are partial', () => {
    const findings = answerFindings('x', [partial(5_000)])
    expect(findings.map(({ what }) => what)).toEqual(['p50', 'p95', 'slowest', 'share of partial responses (1: all)'])
    expect(findings.filter(({ must }) => must !== undefined)).toEqual([])
  })
})
