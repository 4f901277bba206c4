/**
 * Whether a header `Accept` would rather have OpenMetrics 1.0 than the text format. It has to name it: who takes anything gets the text format, and
 * so do a browser and `curl`.
 */
export function prefersOpenMetrics(accept: string | undefined): boolean {
  let openMetrics = 0
  let text = 0
  for (const { type, version, weight } of rangesOf(accept ?? '')) {
    if (type === 'application/openmetrics-text' && version === '1.0.0') openMetrics = Math.max(openMetrics, weight)
    if (type === 'text/plain') text = Math.max(text, weight)
  }
  return openMetrics > 0 && openMetrics >= text
}

interface Range {
  readonly type: string
  /** 1.0.0 unless it says another. */
  readonly version: string
  /** RFC 9110, 12.4.2: 1 unless it says less. What is no number counts as nothing. */
  readonly weight: number
}

function rangesOf(accept: string): readonly Range[] {
  return accept.split(',').map(range => {
    const [type = '', ...parameters] = range.split(';').map(part => part.trim().toLowerCase())
    const given = new Map(parameters.map(parameter => parameter.split('=', 2) as [string, string]))
    const version = given.get('version')?.replaceAll('"', '') ?? '1.0.0'
    return { type, version, weight: Number(given.get('q') ?? 1) || 0 }
  })
}
