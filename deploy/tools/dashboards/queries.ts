import type { Query } from './panel.ts'

/** The matchers of the variables that every dashboard has. */
export const where = 'job=~"$job",namespace=~"$namespace"'

/** A series with these matchers, and more. */
export const series = (name: string, more = ''): string => `${name}{${where}${more === '' ? '' : `,${more}`}}`

/** A second's worth of a counter, added up by labels. */
export const rateBy = (labels: string, name: string, more = ''): string => {
  const rate = `(rate(${series(name, more)}[$__rate_interval]))`
  return labels === '' ? `sum${rate}` : `sum by (${labels}) ${rate}`
}

/** Median and tail of a histogram. */
export function quantilesOf(histogram: string, by = ''): readonly Query[] {
  const labels = by === '' ? 'le' : `le, ${by}`
  return [0.5, 0.9, 0.99].map(quantile => ({
    expr: `histogram_quantile(${quantile}, ${rateBy(labels, `${histogram}_bucket`)})`,
    legend: `p${quantile * 100}${by === '' ? '' : ` {{${by}}}`}`,
  }))
}

/** Seconds since a point in time. */
export const age = (name: string, more = ''): string => `time() - ${series(name, more)}`
