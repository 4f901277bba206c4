import type { Manifest } from '../../../deploy/tools/chart/render.ts'
import { isWorkload, type Workload } from '../../support/deploy/manifests/workloads.ts'
import type { Answer, ApiClient } from './api-client.ts'

const namespace = 'hookline'
/** Objects to which some renderings of the chart refer. */
const others: readonly Manifest[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kafka' } },
  { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'high' }, value: 1_000 },
]

/**
 * Creates `others` and the namespace of the release, which enforces the restricted Pod Security
 * Standard.
 */
export async function createRestrictedNamespace(api: ApiClient): Promise<void> {
  const labels = Object.fromEntries(
    ['enforce', 'warn'].map(mode => [`pod-security.kubernetes.io/${mode}`, 'restricted']),
  )
  const own = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } }
  for (const manifest of [own, ...others]) {
    const answer = await api.apply(manifest)
    if (answer.status >= 300) throw new Error(`${named(manifest)}: ${answer.body.message}`)
  }
}

/**
 * Returns the errors and warnings of dry runs. Only service accounts are created, because the
 * server admits no pod without its service account.
 */
export async function problemsOnServer(api: ApiClient, manifests: readonly Manifest[]): Promise<readonly string[]> {
  const problems: string[] = []
  const submit = async (manifest: Manifest, dryRun: boolean): Promise<void> => {
    const answer = await api.apply(manifest, { namespace, dryRun })
    problems.push(...problemsIn(answer).map(problem => `${named(manifest)}: ${problem}`))
  }
  const isAccount = ({ kind }: Manifest): boolean => kind === 'ServiceAccount'
  for (const manifest of manifests.filter(isAccount)) await submit(manifest, false)
  for (const manifest of manifests.filter(each => !isAccount(each))) await submit(manifest, true)
  for (const pod of manifests.filter(isWorkload).map(podOf)) await submit(pod, true)
  return problems
}

const podOf = ({ metadata, spec: { template } }: Workload): Manifest => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: metadata.name, labels: template.metadata.labels },
  spec: template.spec,
})

const problemsIn = ({ status, body, warnings }: Answer): readonly string[] => [
  ...(status >= 300 ? [body.message ?? `status ${status}`] : []),
  ...warnings,
]

const named = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`
