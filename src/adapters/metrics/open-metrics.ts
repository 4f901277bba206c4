import type { HeadOf, Tally } from './tally.ts'

export const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

/**
 * What the text format says, as OpenMetrics 1.0: the same series under the same names, and exemplars behind the buckets that have one. Made from
 * the text, since prom-client's registry has one format, and renames its counters for good when it writes the other.
 *
 * `exemplars`: the line of a bucket up to its value → what comes behind the value. `tallies` write themselves: read again, thousands of
 * series would hold the event loop for three times as long.
 */
export function openMetricsOf(
  text: string,
  exemplars: ReadonlyMap<string, string>,
  tallies: readonly Tally[] = [],
): string {
  const body = text
    .replace(heads, (_, name: string, help: string, type: string) => headOf(name, help, type))
    .replace(buckets, (line: string, bucket: string) => line + (exemplars.get(bucket) ?? ''))
    .replace(/\n{2,}/g, '\n')
  return [body, ...tallies.map(tally => tally.text(headOf)), '# EOF\n'].join('')
}

const heads = /^# HELP (\S+) (.*)\n# TYPE \S+ (\w+)$/gm
/** Of histograms without labels. */
const buckets = /^(\w+_bucket\{le="[^"]+"\}) .*$/gm

/** Here a counter is called what its series is called, without `_total`; and quotation marks are escaped in what is said of it, too. */
const headOf: HeadOf = (name, help, type) => {
  const family = type === 'counter' ? name.replace(/_total$/, '') : name
  return `# HELP ${family} ${help.replaceAll('"', '\\"')}\n# TYPE ${family} ${type}`
}
