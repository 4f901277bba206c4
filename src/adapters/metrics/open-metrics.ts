import type { ExposedInstrument, ExpositionFormat } from './exposition-format.ts'

export const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

/**
 * Converts the text format to OpenMetrics 1.0, with the same series under the same names.
 * prom-client cannot do this: its registry has one format at a time, and when the format changes
 * for one exposition, prom-client renames its counters permanently.
 *
 * The instruments in `own` write their lines themselves, with exemplars. If the text of their
 * thousands of series were converted too, an exposition would block the event loop three times as
 * long.
 */
export function openMetricsOf(text: string, own: readonly ExposedInstrument[] = []): string {
  const body = text
    .replace(heads, (_, name: string, help: string, type: string) => headOf(name, help, type))
    .replace(/\n{2,}/g, '\n')
  return [body, ...own.map(shown => shown.text(openMetricsFormat)), '# EOF\n'].join('')
}

const heads = /^# HELP (\S+) (.*)\n# TYPE \S+ (\w+)$/gm

/**
 * The HELP and TYPE lines in OpenMetrics. In OpenMetrics a counter family has no `_total` suffix,
 * and quotation marks in the help text are escaped.
 */
function headOf(name: string, help: string, type: string): string {
  const family = type === 'counter' ? name.replace(/_total$/, '') : name
  return `# HELP ${family} ${help.replaceAll('"', '\\"')}\n# TYPE ${family} ${type}`
}

const openMetricsFormat: ExpositionFormat = { head: headOf, hasExemplars: true }
