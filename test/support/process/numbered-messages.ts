/** Partition count of the events topic. */
export const partitions = 12

/** Message ids are `<partition>-<number>`, with the partitions in turn. */
export const partitionOf = (id: string): number => Number.parseInt(id, 10)
export const offsetOf = (id: string): number => Math.floor(Number(id.split('-')[1]) / partitions)
export const idAt = (partition: number, offset: number): string => `${partition}-${offset * partitions + partition}`
