import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

/** One entry of `schemas/metrics.yaml`. */
export interface ContractMetric {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly unit: string
  readonly use: 'alert' | 'dashboard' | 'debug'
  readonly help: string
  /** For each label, a list of all values, or a description of the values. */
  readonly labels?: Readonly<Record<string, readonly string[] | string>>
  readonly buckets?: readonly number[]
  readonly exemplar?: 'trace_id'
}

/**
 * The metrics, read from the committed file and not from the code that generates this file, so that
 * tests check the file.
 */
export const contractMetrics: readonly ContractMetric[] = (
  parse(readFileSync(join(import.meta.dirname, '../../../schemas/metrics.yaml'), 'utf8')) as {
    metrics: ContractMetric[]
  }
).metrics

/** The metric of each series name. A histogram has three series. */
export const contractSeries: ReadonlyMap<string, ContractMetric> = new Map(
  contractMetrics.flatMap(metric =>
    metric.type === 'histogram'
      ? ['_bucket', '_sum', '_count'].map(suffix => [metric.name + suffix, metric] as const)
      : [[metric.name, metric] as const],
  ),
)
