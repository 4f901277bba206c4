import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { readConsoleIngress, readDeployPage } from '../deploy-page-commands.ts'

const textOf = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../../../../docs/how-to', name), 'utf8')
const page = textOf('deploy-on-kubernetes.md')

describe('the page about deployment', () => {
  it('has the commands and the values of an installation', () => {
    const { secrets, values, install, apply, check, ingress, createIngress, networkPolicy, portForward } =
      readDeployPage(page)
    expect(secrets).toContain('create secret generic hookline')
    expect(values).toContain('destinations:')
    expect(install).toContain('--values values.yaml')
    expect(apply).toContain('kubectl --namespace hookline apply')
    expect(check).toContain('hookline send track')
    expect(networkPolicy).toContain('enabled: true')
    expect(ingress).toContain('name: hookline-collector')
    expect(createIngress).toContain('--filename ingress.yaml')
    expect(portForward).toContain('service/hookline-operator')
  })

  it('is rejected without one of them', () =>
    expect(() => readDeployPage(page.replace('helm upgrade --install', 'helm install'))).toThrow(
      'section "4. Install" has no block',
    ))
})

it('the page about the console has an Ingress', () =>
  expect(readConsoleIngress(textOf('use-the-console.md'))).toContain('name: hookline-operator'))
