/** The middle of the values; of an even number of them the mean of the two in the middle. @throws RangeError without any */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[sorted.length >> 1]
  const lower = sorted[(sorted.length - 1) >> 1]
  if (upper === undefined || lower === undefined) throw new RangeError('there is no median of nothing')
  return upper === lower ? upper : (lower + upper) / 2
}

/** The smallest value that `share` (0 to 1) of all are not above. @throws RangeError without any */
export function percentile(values: readonly number[], share: number): number {
  const value = values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)]
  if (value === undefined) throw new RangeError('there is no percentile of nothing')
  return value
}

export interface Point {
  readonly x: number
  readonly y: number
}

/** How much y grows when x grows by one: the slope of the line that fits best; 0 when all x are the same. */
export function slope(points: readonly Point[]): number {
  const mean = (of: (point: Point) => number): number => points.reduce((sum, each) => sum + of(each), 0) / points.length
  const [meanX, meanY] = [mean(({ x }) => x), mean(({ y }) => y)]
  const spread = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0)
  return spread === 0 ? 0 : points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / spread
}
