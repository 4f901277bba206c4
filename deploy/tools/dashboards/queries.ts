import type { Query } from './panel.ts'

/** Label matchers for the variables of every dashboard. */
export const dashboardMatchers = 'job=~"$job",namespace=~"$namespace"'

/** A selector with `dashboardMatchers` and further matchers. */
export const selector = (name: string, more = ''): string =>
  `${name}{${dashboardMatchers}${more === '' ? '' : `,${more}`}}`

/** Rate of a counter per second, summed by labels. */
export const rateBy = (labels: string, name: string, more = ''): string =>
  sumBy(labels, `rate(${selector(name, more)}[$__rate_interval])`)

/** `within` is a duration of PromQL. */
export const increaseBy = (labels: string, name: string, more = '', within = '$__rate_interval'): string =>
  sumBy(labels, `increase(${selector(name, more)}[${within}])`)

const sumBy = (labels: string, expr: string): string =>
  labels === '' ? `sum(${expr})` : `sum by (${labels}) (${expr})`

/** The 50th, 90th and 99th percentile of a histogram. */
export function quantilesOf(histogram: string, by = ''): readonly Query[] {
  const labels = by === '' ? 'le' : `le, ${by}`
  return [0.5, 0.9, 0.99].map(quantile => ({
    expr: `histogram_quantile(${quantile}, ${rateBy(labels, `${histogram}_bucket`)})`,
    legend: `p${quantile * 100}${by === '' ? '' : ` {{${by}}}`}`,
  }))
}

/** Seconds since the time in a gauge, whose value is a Unix time in seconds. */
export const secondsSince = (name: string, more = ''): string => `time() - ${selector(name, more)}`
