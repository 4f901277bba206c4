import { describe, expect, it } from '@jest/globals'
import type { Manifest } from '../../../deploy/tools/chart/render.ts'
import { policies } from '../../support/deploy/manifests/chart-policies.ts'
import { problemsOf } from '../../support/deploy/manifests/kubernetes-schemas.ts'
import { at } from '../../support/deploy/manifests/manifest-mutations.ts'
import { everything, rendered, switches } from '../../support/deploy/manifests/renderings.ts'
import { ofKind } from '../../support/deploy/manifests/workloads.ts'

describe.each([...Object.entries(switches), ['all switches together', everything] as const])(
  'rendered with %s',
  (_, values) => {
    it('has only fields that the schemas of Kubernetes and of the operators permit', async () => {
      const manifests = await rendered(values)
      expect(manifests.length).toBeGreaterThan(4)
      expect(
        manifests.flatMap(each => problemsOf(each).map(problem => `${each.kind} ${each.metadata.name}: ${problem}`)),
      ).toEqual([])
    })

    it('keeps every policy', async () => {
      const manifests = await rendered(values)
      expect(policies.flatMap(({ name, broken }) => broken(manifests).map(where => `${name}: ${where}`))).toEqual([])
    })
  },
)

describe('a wrong field is reported', () => {
  const rows: readonly [string, string, string, unknown, string][] = [
    ['a misspelt field', 'Deployment', 'replica', 2, '/spec/replica unknown field'],
    ['of a network policy', 'NetworkPolicy', 'egress.0.form', [], '/spec/egress/0/form unknown field'],
    ['of KEDA', 'ScaledObject', 'maxReplicas', 3, '/spec/maxReplicas unknown field'],
    [
      'of the prometheus-operator',
      'PodMonitor',
      'podMetricsEndpoints.0.paths',
      '/m',
      '/spec/podMetricsEndpoints/0/paths unknown field',
    ],
    ['of a rule', 'PrometheusRule', 'groups.0.rules.0.exprs', '1', '/spec/groups/0/rules/0/exprs unknown field'],
    ['of a topic', 'KafkaTopic', 'replicationFactor', 3, '/spec/replicationFactor unknown field'],
    ['of a user', 'KafkaUser', 'authorization.acls.0.operations', 'Read', '/spec/authorization/acls/0/operations type'],
    ['of external-secrets', 'ExternalSecret', 'target.creationPolicy', 'Mine', '/spec/target/creationPolicy enum'],
  ]
  it.each(rows)('%s: %s %s = %p', async (_, kind, path, value, found) => {
    const manifests = await rendered(everything)
    const spoilt = at(kind, `spec.${path}`, value)(manifests).find(each => each.kind === kind) as Manifest
    expect(problemsOf(spoilt)).toEqual([expect.stringContaining(found)])
  })

  it('an unknown kind', () => {
    expect(problemsOf({ apiVersion: 'apps/v1beta9', kind: 'Deployment', metadata: { name: 'x' } })).toEqual([
      'there is no schema for apps/v1beta9 Deployment',
    ])
  })

  it('a map may have any keys', () => {
    const data = { anything: 'goes', 'a.yaml': 'b' }
    expect(
      problemsOf({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', labels: { a: 'b' } }, data }),
    ).toEqual([])
  })
})

it('two releases in one namespace have metrics with different values of the label job', async () => {
  for (const fullnameOverride of ['blue', 'green']) {
    const manifests = await rendered({ fullnameOverride, prometheusOperator: { podMonitor: { enabled: true } } })
    expect(ofKind(manifests, 'PodMonitor')[0]?.['spec']).toMatchObject({
      podMetricsEndpoints: [{ relabelings: [{ targetLabel: 'job', replacement: fullnameOverride }] }],
    })
  }
})
