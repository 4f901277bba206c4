import { dashboardFiles } from './grafana/all.ts'
import { contractText } from './metrics/contract.ts'
import { referenceText } from './metrics/reference.ts'

/** Files that are made from the code and committed, by their path in the repository. A test compares what is committed. */
export function generatedFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['schemas/metrics.yaml', contractText()],
    ['docs/reference/metrics.md', referenceText()],
    ...[...dashboardFiles()].map(([file, text]) => [`deploy/grafana/${file}`, text] as const),
  ])
}
