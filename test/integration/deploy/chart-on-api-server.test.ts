import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { at, inContainer, inPod, type Spoil } from '../../support/deploy/manifests/manifest-mutations.ts'
import { everything, rendered, switches } from '../../support/deploy/manifests/renderings.ts'
import type { ApiClient } from '../../tools/cluster/api-client.ts'
import { cachedProgram } from '../../tools/cluster/built-programs.ts'
import { createRestrictedNamespace, problemsOnServer } from '../../tools/cluster/chart-validation.ts'
import { createCustomResources } from '../../tools/cluster/custom-resource-definitions.ts'
import { type ControlPlane, startControlPlane } from '../../tools/cluster/etcd-and-api-server.ts'

/* Skipped until `make test-cluster` has built Kubernetes, which takes minutes. */

const kubernetes = await cachedProgram('kubernetes')
const onlyBuilt = kubernetes === undefined ? describe.skip : describe
/**
 * The API server does not know resources of Strimzi, because no Go module or npm package has their
 * definitions.
 */
const isOfStrimzi = ({ apiVersion }: { readonly apiVersion: string }): boolean => apiVersion.startsWith('kafka.strimzi')

onlyBuilt('a real API server', () => {
  let directory: string
  let plane: ControlPlane
  let api: ApiClient

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'hookline-cluster-'))
    plane = await startControlPlane({ kubernetes: kubernetes as string, directory })
    api = plane.api
    await createRestrictedNamespace(api)
    await createCustomResources(api)
  })
  afterAll(async () => {
    await plane?.stop()
    await rm(directory, { recursive: true, force: true })
  })

  it.each([...Object.entries(switches), ['all switches together', everything] as const])(
    'accepts the chart with %s, and its pods in a namespace with the restricted Pod Security Standard',
    async (_, values) => {
      const manifests = (await rendered(values)).filter(each => !isOfStrimzi(each))
      expect(manifests.length).toBeGreaterThan(4)
      expect(await problemsOnServer(api, manifests)).toEqual([])
    },
  )

  const rows: readonly [string, Spoil, string][] = [
    ['an unknown field', at('Deployment', 'spec.replica', 2), '.spec.replica: field not declared in schema'],
    ['a label that is no label', at('Service', 'metadata.labels.x', 'a b'), 'Invalid value'],
    ['an unknown field of a PodMonitor', at('PodMonitor', 'spec.podMetricsEndpoints.0.paths', '/m'), 'paths'],
    ['an unknown field of a ScaledObject', at('ScaledObject', 'spec.maxReplicas', 3), 'maxReplicas'],
    ['a user that is root', inPod('Job', 'securityContext.runAsUser', 0), 'runAsUser=0'],
    ['a host network', inPod('Deployment', 'hostNetwork', true), 'hostNetwork'],
    ['a host path', inPod('Deployment', 'volumes.0', { name: 'config', hostPath: { path: '/' } }), 'hostPath'],
    ['no seccomp profile', inPod('Deployment', 'securityContext.seccompProfile', undefined), 'seccompProfile'],
    [
      'a capability',
      inContainer('Deployment', 'securityContext.capabilities.add', ['NET_ADMIN']),
      'unrestricted capabilities',
    ],
    [
      'privilege escalation',
      inContainer('Deployment', 'securityContext.allowPrivilegeEscalation', undefined),
      'allowPrivilegeEscalation != false',
    ],
  ]
  it.each(rows)('reports %s', async (_, spoil, problem) => {
    const manifests = spoil(await rendered(everything)).filter(each => !isOfStrimzi(each))
    expect((await problemsOnServer(api, manifests)).join('\n')).toContain(problem)
  })
})
