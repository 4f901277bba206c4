import type { ExposedInstrument, ExpositionFormat } from './exposition-format-interface.ts'

export const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

/**
 * Converts the text format to OpenMetrics 1.0. prom-client's own conversion is not used: it renames
 * the counters of the registry permanently, and is slow for the thousands of series in `own`.
 */
export function openMetricsOf(text: string, own: readonly ExposedInstrument[] = []): string {
  const body = text
    .replace(headPattern, (_, name: string, help: string, type: string) => headOf(name, help, type))
    .replace(/\n{2,}/g, '\n')
  return [body, ...own.map(shown => shown.text(openMetricsFormat)), '# EOF\n'].join('')
}

const headPattern = /^# HELP (\S+) (.*)\n# TYPE \S+ (\w+)$/gm

/** The HELP and TYPE lines in OpenMetrics, in which a counter family has no suffix `_total`. */
function headOf(name: string, help: string, type: string): string {
  const family = type === 'counter' ? name.replace(/_total$/, '') : name
  return `# HELP ${family} ${help.replaceAll('"', '\\"')}\n# TYPE ${family} ${type}`
}

const openMetricsFormat: ExpositionFormat = { head: headOf, hasExemplars: true }
