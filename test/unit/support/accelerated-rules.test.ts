import { describe, expect, it } from '@jest/globals'
import { accelerate } from '../../support/prometheus/accelerated-rules.ts'
import { alerts, nameOf, recordings } from '../../support/prometheus/rules.ts'

describe('a minute becomes a second', () => {
  it.each([
    { what: 'in a window', expr: 'rate(a[5m])', quick: 'rate(a[5s])' },
    { what: 'in a window of an hour', expr: 'increase(a[1h]) > 2', quick: 'increase(a[60s]) > 2' },
    { what: 'in an offset', expr: 'a unless a offset 10m', quick: 'a unless a offset 10s' },
    { what: 'where seconds are minutes times 60', expr: 'time() - a > 15 * 60', quick: 'time() - a > 15 * 1' },
    {
      what: 'at most 75 s',
      expr: 'rate(a[6h]) + rate(a[3d])',
      quick: 'rate(a[75s]) + rate(a[75s])',
    },
    { what: 'not in a number', expr: 'a{le="60"} > 60 + 4 * 600', quick: 'a{le="60"} > 60 + 4 * 600' },
    { what: 'not in a name', expr: 'hookline:a:rate5m', quick: 'hookline:a:rate5m' },
    { what: 'not in a label value', expr: 'a{b="[5m] * 60"}', quick: 'a{b="[5m] * 60"}' },
  ])('$what', ({ expr, quick }) => {
    expect(accelerate({ expr })).toEqual({ expr: quick })
  })

  it('in the `for` of an alert', () => {
    expect(accelerate({ expr: 'a', for: '15m' })).toEqual({ expr: 'a', for: '15s' })
  })
})

describe('the rules themselves', () => {
  it.each([...recordings, ...alerts].map(rule => [nameOf(rule), rule] as const))('%s', (_, rule) => {
    const { expr, for: patience = '' } = accelerate(rule)
    // No duration in minutes, hours or days is left.
    expect(`${expr.replaceAll(/\w+:\w+:\w+/g, '')} ${patience}`).not.toMatch(/\d[mhd]\b|\* 60\b/)
    // Everything except durations is unchanged.
    const timeless = (text: string): string => text.replaceAll(/\[\w+\]|offset \w+|\* (60|1)\b/g, '')
    expect(timeless(expr)).toBe(timeless(rule.expr))
  })
})
