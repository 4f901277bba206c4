import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Manifest, manifestsOf } from '../../../deploy/tools/chart/render.ts'
import type { ApiClient } from './api-client.ts'
import { keda, moduleDirectory } from './download-go-module.ts'

/**
 * The chart's custom resource definitions, as files of Go modules. Strimzi's are missing, because
 * it is not a Go module.
 */
const sources: readonly { readonly module: string; readonly files: readonly string[] }[] = [
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    files: ['podmonitors', 'prometheusrules'].map(
      name => `example/prometheus-operator-crd/monitoring.coreos.com_${name}.yaml`,
    ),
  },
  { module: keda, files: ['config/crd/bases/keda.sh_scaledobjects.yaml'] },
  {
    module: 'github.com/external-secrets/external-secrets@v1.3.2',
    files: ['config/crds/bases/external-secrets.io_externalsecrets.yaml'],
  },
]

/**
 * Creates the custom resource definitions. Resolves with their kinds when the API server serves
 * them.
 */
export async function createCustomResources(api: ApiClient): Promise<readonly string[]> {
  const definitions = (await Promise.all(sources.map(definitionsOf))).flat()
  for (const definition of definitions) {
    const { status, body } = await api.ask('POST', path, definition)
    if (status >= 300) throw new Error(`${definition.metadata.name}: ${body.message}`)
  }
  for (const { metadata } of definitions) await untilServed(api, metadata.name)
  return definitions.map(({ spec }) => (spec as { names: { kind: string } }).names.kind)
}

const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

async function definitionsOf({ module, files }: (typeof sources)[number]): Promise<readonly Manifest[]> {
  const directory = await moduleDirectory(module)
  const texts = await Promise.all(files.map(file => readFile(join(directory, file), 'utf8')))
  return texts.flatMap(manifestsOf)
}

async function untilServed(api: ApiClient, name: string): Promise<void> {
  for (;;) {
    const { body } = await api.ask('GET', `${path}/${name}`)
    // A new definition has the conditions `null`.
    const { conditions } = (body['status'] ?? {}) as { conditions?: { type: string; status: string }[] | null }
    if (conditions?.some(({ type, status }) => type === 'Established' && status === 'True')) return
    await delay(50)
  }
}
