export const partitions = 12

/**
 * A message id is `<partition>-<number>`, where the number is the offset times 12 plus the
 * partition.
 */
export const partitionOf = (id: string): number => Number.parseInt(id, 10)
export const offsetOf = (id: string): number => Math.floor(Number(id.split('-')[1]) / partitions)
export const idAt = (partition: number, offset: number): string => `${partition}-${offset * partitions + partition}`
