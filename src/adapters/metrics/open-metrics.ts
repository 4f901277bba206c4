import type { Format, Shown } from './format.ts'

export const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

/**
 * What the text format says, as OpenMetrics 1.0: the same series under the same names. Made from the text, since prom-client's registry has one
 * format, and renames its counters for good when it writes the other.
 *
 * `own`: these write themselves, exemplars included. Read again, thousands of series would hold the event loop for three times as long.
 */
export function openMetricsOf(text: string, own: readonly Shown[] = []): string {
  const body = text
    .replace(heads, (_, name: string, help: string, type: string) => headOf(name, help, type))
    .replace(/\n{2,}/g, '\n')
  return [body, ...own.map(shown => shown.text(openMetricsFormat)), '# EOF\n'].join('')
}

const heads = /^# HELP (\S+) (.*)\n# TYPE \S+ (\w+)$/gm

/** Here a counter is called what its series is called, without `_total`; and quotation marks are escaped in what is said of it, too. */
function headOf(name: string, help: string, type: string): string {
  const family = type === 'counter' ? name.replace(/_total$/, '') : name
  return `# HELP ${family} ${help.replaceAll('"', '\\"')}\n# TYPE ${family} ${type}`
}

const openMetricsFormat: Format = { head: headOf, hasExemplars: true }
