import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { billOfMaterials } from './bill-of-materials.ts'

/* Prints the bill of materials of the container image as CycloneDX JSON. */

const lockfile = readFileSync(join(import.meta.dirname, '../../../package-lock.json'), 'utf8')
process.stdout.write(`${JSON.stringify(billOfMaterials(JSON.parse(lockfile)), null, 2)}\n`)
