import { describe, expect, it } from '@jest/globals'
import { accelerate } from '../../support/prometheus/accelerated-rules.ts'
import { alerts, nameOf, recordings } from '../../support/prometheus/rules.ts'

describe('the rules themselves', () => {
  it.each([...recordings, ...alerts].map(rule => [nameOf(rule), rule] as const))('%s', (_, rule) => {
    const { expr, for: patience = '' } = accelerate(rule)
    // The accelerated rule has no window or offset in minutes, hours or days.
    expect(`${expr.replaceAll(/\w+:\w+:\w+/g, '')} ${patience}`).not.toMatch(/\d[mhd]\b|\* 60\b/)
    // Except for the durations, the accelerated rule equals the original rule.
    const timeless = (text: string): string => text.replaceAll(/\[\w+\]|offset \w+|\* (60|1)\b/g, '')
    expect(timeless(expr)).toBe(timeless(rule.expr))
  })
})
