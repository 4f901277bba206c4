import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { readDeployPage } from '../deploy-page-commands.ts'
import { differences, type Expectation, policyValues } from '../network-policy-scenario.ts'

const target = '10.0.0.1:80'
const page = readFileSync(join(import.meta.dirname, '../../../../docs/how-to/deploy-on-kubernetes.md'), 'utf8')

describe('the expectation of a connection', () => {
  it.each([
    ['an open connection without policies', false, 'closed', 'open', true],
    ['an open connection that the policies permit', true, 'open', 'open', true],
    ['a refused connection that the policies forbid', true, 'closed', 'ECONNREFUSED', true],
    ['a timeout where the policies forbid the connection', true, 'closed', 'timeout', true],
    ['a refused connection without policies', false, 'closed', 'ECONNREFUSED', false],
    ['a refused connection that the policies permit', true, 'open', 'ECONNREFUSED', false],
    ['an open connection that the policies forbid', true, 'closed', 'open', false],
    ['a name that does not resolve', true, 'closed', 'ENOTFOUND', false],
  ] as const)('%s', (_, hasPolicy, policy, result, isMet) => {
    const all: readonly Expectation[] = [{ from: 'other', target, policy }]
    expect(differences(all, new Map([[`other ${target}`, result]]), hasPolicy)).toHaveLength(isMet ? 0 : 1)
  })

  it('names the connection that differs, and a missing result', () =>
    expect(differences([{ from: 'other', target, policy: 'closed' }], new Map(), true)).toEqual([
      'with policies, other to 10.0.0.1:80: undefined, expected closed',
    ]))
})

it('the values of the page get the addresses and ports of this machine', () => {
  const machine = { ipBlock: { cidr: '10.90.0.2/32' } }
  const values = policyValues(readDeployPage(page), 1_234)
  expect(values).toMatchObject({
    enabled: true,
    extraEgress: [{ to: [machine], ports: [{ port: 53 }, { port: 1_234 }] }],
  })
  expect(values.collectorFrom).toContainEqual(machine)
  expect(values.collectorFrom.length).toBeGreaterThan(1)
})
