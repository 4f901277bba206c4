import { join } from 'node:path'
import { operatorDocument } from '../../src/adapters/http/openapi-operator.ts'
import { openApiDocument } from '../../src/adapters/http/openapi-tracking.ts'
import { configurationJsonSchema } from '../../src/core/settings/configuration-json-schema.ts'
import { publishedFiles as benchFiles } from '../../test/tools/bench/publication/publish.ts'
import { publishedFiles as chaosFiles } from '../../test/tools/chaos/publication.ts'
import { scenarios } from '../../test/tools/chaos/scenarios.ts'
import { publishedFiles as clusterFiles } from '../../test/tools/cluster/publication.ts'
import { scenarios as clusterScenarios } from '../../test/tools/cluster/scenarios.ts'
import { asyncApiText } from './asyncapi/document.ts'
import { chartFiles } from './chart/chart-files.ts'
import { dashboardFiles } from './dashboards/dashboard-files.ts'
import { jsonText } from './json-and-yaml-text.ts'
import { contractText } from './metrics/metrics-yaml.ts'
import { referenceText } from './metrics/reference.ts'
import { commandsText } from './reference/commands.ts'
import { configurationText } from './reference/configuration.ts'
import { errorsText } from './reference/errors-outcomes-and-reasons-page.ts'

const root = join(import.meta.dirname, '../..')

/** The generated files: text by path in the repository. */
export async function generatedFiles(): Promise<ReadonlyMap<string, string>> {
  const bench = await benchFiles(root)
  const chaos = await chaosFiles(root, scenarios, [], bench)
  return new Map([
    ['schemas/asyncapi.yaml', asyncApiText()],
    ['schemas/config.schema.json', jsonText(configurationJsonSchema())],
    ['schemas/metrics.yaml', contractText()],
    ['schemas/openapi.json', jsonText(openApiDocument())],
    ['schemas/openapi-operator.json', jsonText(operatorDocument())],
    ['docs/reference/commands.md', await commandsText()],
    ['docs/reference/configuration.md', configurationText()],
    ['docs/reference/errors.md', errorsText()],
    ['docs/reference/metrics.md', referenceText()],
    ...chartFiles(),
    ...dashboardFiles(),
    ...bench,
    ...chaos,
    ...(await clusterFiles(root, clusterScenarios, [], chaos)),
  ])
}
