import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { kubernetesVersion } from './find-helm.ts'

const run = promisify(execFile)
export const chart = join(import.meta.dirname, '../../helm/hookline')

/** A Kubernetes object in the rendered chart. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly [key: string]: unknown }
  readonly [key: string]: unknown
}

/** @throws Error with Helm's message */
export async function render(helm: string, values: object = {}): Promise<readonly Manifest[]> {
  const directory = await mkdtemp(join(tmpdir(), 'hookline-chart-'))
  try {
    const file = join(directory, 'values.json')
    await writeFile(file, JSON.stringify(values))
    const where = ['--namespace', 'hookline', '--kube-version', kubernetesVersion, '--values', file]
    return manifestsOf(await helmTemplate(helm, where))
  } finally {
    await rm(directory, { recursive: true })
  }
}

async function helmTemplate(helm: string, where: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run(helm, ['template', 'hookline', chart, ...where], { maxBuffer: 64 * 1_048_576 })
    return stdout
  } catch (cause) {
    throw new Error((cause as { stderr?: string }).stderr || String(cause))
  }
}

/** @throws when the text is not YAML or has a duplicate key */
export const manifestsOf = (text: string): Manifest[] =>
  parseAllDocuments(text).flatMap(document => {
    const [error] = document.errors
    if (error !== undefined) throw error
    const object: unknown = document.toJS()
    return object === null ? [] : [object as Manifest]
  })
