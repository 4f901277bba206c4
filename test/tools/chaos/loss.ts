import { type Examined, some } from './examined.ts'

/** A line of a log by which a process says that it skips records. */
export interface ToldLoss {
  readonly process: string
  readonly partition: number
  /** Offsets: the first that is gone, and the first that is there. */
  readonly from: number
  readonly to: number
}

export interface LossEvidence {
  /** Acknowledged and never delivered, by partition. */
  readonly lost: ReadonlyMap<number, readonly string[]>
  readonly told: readonly ToldLoss[]
}

/** Whether each record that is gone has been told of, and no other. */
export function judgeLoss({ lost, told }: LossEvidence): Examined {
  const failures: string[] = []
  const partitions = new Set([...lost.keys(), ...told.map(({ partition }) => partition)])
  let [gone, said] = [0, 0]
  for (const partition of [...partitions].sort((a, b) => a - b)) {
    const own = lost.get(partition) ?? []
    const lines = told.filter(each => each.partition === partition)
    const sum = sumOf(lines)
    gone += own.length
    said += sum
    if (sum !== own.length)
      failures.push(`partition ${partition}: ${own.length === 0 ? 'none' : some(own)} gone, the log tells of ${sum}`)
  }
  if (gone === 0) failures.push('nothing was lost: the fault did nothing')
  return {
    measured: [`${gone} records taken by retention, ${said} told of, in ${told.length} lines and by the metric`],
    failures,
  }
}

/** What does not fit when the metric of all processes together counts so many. */
export function disagreement(told: readonly ToldLoss[], counted: number): readonly string[] {
  const said = sumOf(told)
  return said === counted ? [] : [`the log tells of ${said} records that are gone, the metric of ${counted}`]
}

const sumOf = (lines: readonly ToldLoss[]): number => lines.reduce((all, { from, to }) => all + to - from, 0)
