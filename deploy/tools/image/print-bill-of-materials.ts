import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { billOfMaterials } from './bill-of-materials.ts'

/* Prints the content of the image as CycloneDX JSON, from the lockfile alone. */

const lockfile = readFileSync(join(import.meta.dirname, '../../../package-lock.json'), 'utf8')
process.stdout.write(`${JSON.stringify(billOfMaterials(JSON.parse(lockfile)), null, 2)}\n`)
