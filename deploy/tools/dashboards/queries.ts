import type { Query } from './panel.ts'

/** Label matchers for the variables of every dashboard. */
export const where = 'job=~"$job",namespace=~"$namespace"'

/** A selector with these matchers and further ones. */
export const series = (name: string, more = ''): string => `${name}{${where}${more === '' ? '' : `,${more}`}}`

/** Rate of a counter per second, summed by labels. */
export const rateBy = (labels: string, name: string, more = ''): string => {
  const rate = `(rate(${series(name, more)}[$__rate_interval]))`
  return labels === '' ? `sum${rate}` : `sum by (${labels}) ${rate}`
}

/** Median and high percentile of a histogram. */
export function quantilesOf(histogram: string, by = ''): readonly Query[] {
  const labels = by === '' ? 'le' : `le, ${by}`
  return [0.5, 0.9, 0.99].map(quantile => ({
    expr: `histogram_quantile(${quantile}, ${rateBy(labels, `${histogram}_bucket`)})`,
    legend: `p${quantile * 100}${by === '' ? '' : ` {{${by}}}`}`,
  }))
}

/** Seconds since a timestamp. */
export const age = (name: string, more = ''): string => `time() - ${series(name, more)}`
