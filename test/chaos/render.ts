import { join } from 'node:path'
import { publish } from './publication.ts'
import { scenarios } from './scenarios.ts'

/* Renders the published tables anew from results.json, after a scenario was added, renamed or described otherwise. */

await publish(join(import.meta.dirname, '../..'), [], scenarios)
