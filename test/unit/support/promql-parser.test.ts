import { describe, expect, it } from '@jest/globals'
import { askedIn } from '../../support/prometheus/promql-parser.ts'

const named = (name: string, ...matchers: readonly string[]) => ({
  name,
  matchers: matchers.map(text => {
    const [, label, operator, value] = /^(\w+)(=~|!~|!=|=)(.*)$/.exec(text) ?? []
    return { label, operator, value }
  }),
})

describe('the parts of an expression', () => {
  it.each([
    { expr: 'up', metrics: [named('up')], labels: [] },
    { expr: 'up == 0', metrics: [named('up')], labels: [] },
    { expr: 'rate(a_total{x="1", y=~"a|b"}[5m])', metrics: [named('a_total', 'x=1', 'y=~a|b')], labels: [] },
    { expr: 'sum by (job, x) (a:b:c)', metrics: [named('a:b:c')], labels: ['job', 'x'] },
    { expr: 'sum(a) by (job)', metrics: [named('a')], labels: ['job'] },
    { expr: 'a and on (job) b{z!~"q"} > 10', metrics: [named('a'), named('b', 'z!~q')], labels: ['job'] },
    {
      expr: 'histogram_quantile(0.99, sum by (le) (rate(h_bucket[$__rate_interval])))',
      metrics: [named('h_bucket')],
      labels: ['le'],
    },
    { expr: 'a unless a offset 1h', metrics: [named('a'), named('a')], labels: [] },
    { expr: 'a{b="rate(c)"} * group_left (v) d', metrics: [named('a', 'b=rate(c)'), named('d')], labels: ['v'] },
    { expr: 'label_replace(a, "x", "$1", "y", "(.*)")', metrics: [named('a')], labels: [] },
    { expr: 'time() - a_seconds > 300', metrics: [named('a_seconds')], labels: [] },
  ])('$expr', ({ expr, metrics, labels }) => {
    expect(askedIn(expr)).toEqual({ metrics, labels })
  })
})
