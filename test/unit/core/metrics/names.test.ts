import { describe, expect, it } from '@jest/globals'
import { metricSpecs } from '../../../../src/core/metrics/metrics.ts'
import type { LabelSet } from '../../../../src/core/metrics/spec.ts'

/* The rules of Prometheus' naming guide, for our own metrics. */

const own = Object.values(metricSpecs)

/** Which ending a unit asks for; counters have `_total` behind it. */
const endings: Record<string, RegExp> = {
  seconds: /(?<!_timestamp)_seconds(_total)?$/,
  bytes: /_bytes(_total|_limit)?$/,
  'Unix time': /_timestamp_seconds$/,
}

describe('names', () => {
  it.each(own.map(spec => [spec.name, spec] as const))('%s', (name, { kind, unit, help, labels, buckets }) => {
    expect(name).toMatch(/^hookline_[a-z]+(_[a-z]+)*$/)
    expect(name.endsWith('_total')).toBe(kind === 'counter')
    for (const [other, ending] of Object.entries(endings)) expect(ending.test(name)).toBe(other === unit)
    expect(name).not.toMatch(/milli|_ms\b|minutes|hours|percent/)
    expect(help).toMatch(/^[A-Z0-9].*[^.]\.$/)
    for (const label of Object.keys(labels)) expect(label).toMatch(/^[a-z]+$/)
    // Reserved for what Prometheus puts there itself.
    expect(Object.keys(labels)).not.toEqual(expect.arrayContaining(['job', 'instance', 'le', 'quantile']))
    expect(buckets.length > 0).toBe(kind === 'histogram')
    expect(buckets).toEqual([...buckets].sort((a, b) => a - b))
  })

  // An exemplar costs memory in each bucket of each series.
  it.each(own.filter(spec => 'exemplar' in spec).map(spec => [spec.name, spec] as const))(
    '%s, which leads to traces, is a histogram without labels',
    (_, { kind, labels }) => expect({ kind, labels }).toEqual({ kind: 'histogram', labels: {} }),
  )

  it('are given once', () => {
    expect(new Set(own.map(({ name }) => name)).size).toBe(own.length)
  })

  it('a label that two metrics have is of one kind', () => {
    const open = own.flatMap(({ labels }) =>
      Object.entries(labels as LabelSet).filter(([, values]) => 'folds' in values),
    )
    for (const [name, uses] of Map.groupBy(open, ([label]) => label))
      expect([name, new Set(uses.map(([, values]) => JSON.stringify(values))).size]).toEqual([name, 1])
  })
})
