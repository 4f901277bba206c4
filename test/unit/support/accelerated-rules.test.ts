import { describe, expect, it } from '@jest/globals'
import { accelerate } from '../../support/prometheus/accelerated-rules.ts'
import { alerts, nameOf, recordings } from '../../support/prometheus/rules.ts'

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
