import { asyncApiText } from './asyncapi/document.ts'
import { dashboardFiles } from './grafana/all.ts'
import { chartFiles } from './helm/generated.ts'
import { contractText } from './metrics/contract.ts'
import { referenceText } from './metrics/reference.ts'
import { commandsText } from './reference/commands.ts'
import { configurationText } from './reference/configuration.ts'
import { errorsText } from './reference/errors.ts'

/** Files that are made from the code and committed, by their path in the repository. A test compares what is committed. */
export async function generatedFiles(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['schemas/asyncapi.yaml', asyncApiText()],
    ['schemas/metrics.yaml', contractText()],
    ['docs/reference/commands.md', await commandsText()],
    ['docs/reference/configuration.md', configurationText()],
    ['docs/reference/errors.md', errorsText()],
    ['docs/reference/metrics.md', referenceText()],
    ...[...dashboardFiles()].map(([file, text]) => [`deploy/grafana/${file}`, text] as const),
    ...chartFiles(),
  ])
}
