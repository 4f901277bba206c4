import { type CheckResult, some } from './result-of-a-check.ts'

/** A log line in which a process reports that Kafka deleted records before they were read. */
export interface ReportedLoss {
  readonly process: string
  readonly partition: number
  /** Offsets of the first missing record, and of the first existing record after it. */
  readonly from: number
  readonly to: number
}

export interface LossEvidence {
  /** Acknowledged messages that at least one destination never got, by partition. */
  readonly lost: ReadonlyMap<number, readonly string[]>
  readonly reported: readonly ReportedLoss[]
}

/** Judges, for each partition, whether the log reports the right number of lost records. */
export function judgeLoss({ lost, reported }: LossEvidence): CheckResult {
  const failures: string[] = []
  const partitions = new Set([...lost.keys(), ...reported.map(({ partition }) => partition)])
  let [gone, said] = [0, 0]
  for (const partition of [...partitions].sort((a, b) => a - b)) {
    const own = lost.get(partition) ?? []
    const lines = reported.filter(each => each.partition === partition)
    const sum = sumOf(lines)
    gone += own.length
    said += sum
    if (sum !== own.length)
      failures.push(`partition ${partition}: ${own.length === 0 ? 'none' : some(own)} lost, the log reports ${sum}`)
  }
  if (gone === 0) failures.push('nothing was lost: the fault had no effect')
  return {
    measured: [
      `retention deleted ${gone} records before Hookline had read them. ${reported.length} log lines and the metric report ${said}`,
    ],
    failures,
  }
}

/** Returns a failure if the losses in the log differ from the metric, summed over all processes. */
export function disagreement(told: readonly ReportedLoss[], counted: number): readonly string[] {
  const said = sumOf(told)
  return said === counted ? [] : [`the log reports ${said} lost records, the metric ${counted}`]
}

const sumOf = (lines: readonly ReportedLoss[]): number => lines.reduce((all, { from, to }) => all + to - from, 0)
