import { describe, expect, it } from '@jest/globals'
import { classifyAddress } from '../../../src/core/network/allowed-addresses.ts'
import { networkPeers, rendered } from '../../support/deploy/manifests/renderings.ts'
import { ofKind } from '../../support/deploy/manifests/workloads.ts'

describe('network policies', () => {
  it.each(['kafka', 'registry'])('need the peers of %s', async name => {
    const networkPolicy = { enabled: true, ...networkPeers, [name]: { to: [] } }
    await expect(rendered({ networkPolicy })).rejects.toThrow(`networkPolicy.${name}.to is required`)
  })

  it.each([
    ['operatorFrom', ['http', ...Array<string>(5).fill('ops')]],
    ['metricsFrom', ['http', 'operator']],
  ])('without peers in %s, permit nobody to connect to its port', async (name, expected) => {
    const peers = { operatorFrom: [{ podSelector: {} }], metricsFrom: [{ podSelector: {} }], [name]: [] }
    const config = { operator: { keys: [{ name: 'ada', role: 'operate', keyFile: '../secrets/ada' }] } }
    const networkPolicy = { enabled: true, ...networkPeers, ...peers }
    const ports = ofKind(await rendered({ config, networkPolicy }), 'NetworkPolicy').flatMap(each => {
      const { ingress = [] } = each['spec'] as { ingress?: { ports: { port: string }[] }[] }
      return ingress.flatMap(rule => rule.ports.map(({ port }) => port))
    })
    expect(ports.toSorted()).toEqual(expected)
  })

  it('select each pod only once, so that a pod never has only some of its rules', async () => {
    const manifests = await rendered({ networkPolicy: { enabled: true, ...networkPeers } })
    const selected = ofKind(manifests, 'NetworkPolicy').map(each => each['spec'] as { podSelector: object })
    const pods = [...ofKind(manifests, 'Deployment'), ...ofKind(manifests, 'Job')].map(
      each => (each['spec'] as { template: { metadata: { labels: Record<string, string> } } }).template.metadata.labels,
    )
    const names = ['name', 'instance', 'component'].map(name => `app.kubernetes.io/${name}`)
    const labelsOf = (labels: Record<string, string>) => Object.fromEntries(names.map(name => [name, labels[name]]))
    expect(selected.map(({ podSelector }) => podSelector)).toEqual(
      expect.arrayContaining(pods.map(labels => ({ matchLabels: labelsOf(labels) }))),
    )
    expect(selected).toHaveLength(pods.length)
  })

  it('every block that the network policy forbids is also forbidden by the code', async () => {
    const [policy] = ofKind(
      await rendered({ networkPolicy: { enabled: true, ...networkPeers } }),
      'NetworkPolicy',
    ).filter(each => each.metadata.name.endsWith('-dispatcher'))
    const spec = policy?.['spec'] as { egress: { to: { ipBlock?: { except: string[] } }[] }[] } | undefined
    const blocks = (spec?.egress ?? []).flatMap(({ to }) => to.flatMap(({ ipBlock }) => ipBlock?.except ?? []))
    expect(blocks.length).toBeGreaterThan(10)
    expect(blocks.filter(block => classifyAddress(block.replace(/\/.*/, ''), []).kind !== 'forbidden')).toEqual([])
  })
})
