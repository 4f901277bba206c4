import { describe, expect, it } from '@jest/globals'
import type { LabelSet } from '../../../../src/core/metrics/metric-spec-builders.ts'
import { metricSpecs } from '../../../../src/core/metrics/metrics.ts'

/* Checks Hookline's metrics against the rules of Prometheus for names. */

const own = Object.values(metricSpecs)

/** The suffix that each unit requires. In names of counters, `_total` follows it. */
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
    // Prometheus sets these labels itself.
    expect(Object.keys(labels)).not.toEqual(expect.arrayContaining(['job', 'instance', 'le', 'quantile']))
    expect(buckets.length > 0).toBe(kind === 'histogram')
    expect(buckets).toEqual([...buckets].sort((a, b) => a - b))
  })

  // Each bucket of each series stores an exemplar. To limit their number, only histograms without
  // labels may have exemplars.
  it.each(own.filter(spec => 'exemplar' in spec).map(spec => [spec.name, spec] as const))(
    '%s, which leads to traces, is a histogram without labels',
    (_, { kind, labels }) => expect({ kind, labels }).toEqual({ kind: 'histogram', labels: {} }),
  )

  it('a label has the same kind of values in all metrics', () => {
    const open = own.flatMap(({ labels }) =>
      Object.entries(labels as LabelSet).filter(([, values]) => 'canOverflow' in values),
    )
    for (const [name, uses] of Map.groupBy(open, ([label]) => label))
      expect([name, new Set(uses.map(([, values]) => JSON.stringify(values))).size]).toEqual([name, 1])
  })
})
