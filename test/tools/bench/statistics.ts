/**
 * Returns the median; for an even number of values, the mean of the two middle values.
 * @throws RangeError when `values` is empty
 */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[sorted.length >> 1]
  const lower = sorted[(sorted.length - 1) >> 1]
  if (upper === undefined || lower === undefined) throw new RangeError('a median needs at least one value')
  return upper === lower ? upper : (lower + upper) / 2
}

/**
 * The smallest value that at least `share` (0 to 1) of all values do not exceed.
 * @throws RangeError without values
 */
export function percentile(values: readonly number[], share: number): number {
  const value = values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)]
  if (value === undefined) throw new RangeError('a percentile needs at least one value')
  return value
}

export interface Point {
  readonly x: number
  readonly y: number
}

/** The slope of the least-squares line, or 0 if all x are equal. */
export function slope(points: readonly Point[]): number {
  const mean = (of: (point: Point) => number): number => points.reduce((sum, each) => sum + of(each), 0) / points.length
  const [meanX, meanY] = [mean(({ x }) => x), mean(({ y }) => y)]
  const spread = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0)
  return spread === 0 ? 0 : points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / spread
}
