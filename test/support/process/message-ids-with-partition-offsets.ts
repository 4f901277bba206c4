/** Number of partitions of the events topic. */
export const partitions = 12

/**
 * A message id is `<partition>-<number>`. Numbers count the messages of all partitions, and
 * consecutive messages go to consecutive partitions. So the number is the message's offset times
 * 12, plus its partition.
 */
export const partitionOf = (id: string): number => Number.parseInt(id, 10)
export const offsetOf = (id: string): number => Math.floor(Number(id.split('-')[1]) / partitions)
export const idAt = (partition: number, offset: number): string => `${partition}-${offset * partitions + partition}`
