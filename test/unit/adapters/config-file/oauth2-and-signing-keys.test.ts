import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { formatProblem, loadConfigFile } from '../../../../src/adapters/config-file/config-file.ts'
import type { ServiceName } from '../../../../src/core/settings/service-names.ts'
import { configFolder, loadValid } from '../../../support/config/config-folder.ts'

const key = `whsk_${Buffer.alloc(32, 1).toString('base64')}`
const main = `kafka: { brokers: [a:9092] }
registry: { url: http://registry:8081 }
operator: { keys: [{ name: ada, role: read, key: operator-key-of-ada }] }
sources: [{ id: web, writeKey: write-key-of-web }]
`
const one = `${main}destinations:
  - id: crm
    sources: [web]
    signingKeyFile: [keys/new, keys/old]
    auth: { oauth2: { tokenUrl: "https://login.example.com/token", clientId: hookline, clientSecretFile: keys/client, scopes: [a, b] } }
    policy: { standardWebhooks: true, signing: ed25519 }
    webhooks: [{ url: https://crm.example.com }]
  - id: erp
    sources: [web]
    auth: { oauth2: { tokenUrl: "https://login.example.com/token", clientId: hookline, clientSecret: "\${SECRET}", clientAuthentication: post } }
    webhooks: [{ url: https://erp.example.com }]
`
const keyFiles = { 'keys/new': `${key}\n`, 'keys/old': key, 'keys/client': 'client-secret-of-crm\n' }

async function load(files: Readonly<Record<string, string>>, services?: readonly ServiceName[]) {
  const folder = await configFolder(files)
  const env = { SECRET: 'client-secret-of-erp' }
  return loadValid(join(folder, 'hookline.yaml'), env, undefined, services && new Set(services))
}

describe('OAuth2 and signing keys', () => {
  it('are read from files, and from the configuration', async () => {
    const result = await load({ 'hookline.yaml': one, ...keyFiles })
    const [crm, erp] = result.settings.destinations
    expect(crm?.auth?.oauth2).toMatchObject({
      tokenUrl: 'https://login.example.com/token',
      clientId: 'hookline',
      clientAuthentication: 'basic',
      scopes: ['a', 'b'],
    })
    expect(crm?.auth?.oauth2?.clientSecret.reveal()).toBe('client-secret-of-crm')
    expect(crm?.signingKeys?.map(secret => secret.reveal())).toEqual([key, key])
    expect(erp?.auth?.oauth2?.clientSecret.reveal()).toBe('client-secret-of-erp')
    expect(erp?.auth?.oauth2).toMatchObject({ clientAuthentication: 'post', scopes: [] })
  })

  it('are never printed', async () => {
    const result = await load({ 'hookline.yaml': one, ...keyFiles })
    expect(`${JSON.stringify(result)}${inspect(result, { depth: 12 })}`).not.toMatch(/client-secret-of|whsk_/)
  })

  it.each<[string, readonly ServiceName[], boolean]>([
    ['the dispatcher', ['dispatcher'], true],
    ['the operator service, which sends test messages and publishes the public keys', ['operator'], true],
    ['no other service', ['audiences', 'collector'], false],
  ])('are read for %s', async (_, services, isRead) => {
    const result = await load({ 'hookline.yaml': one, ...keyFiles }, services)
    const [crm] = result.settings.destinations
    expect(crm?.signingKeys?.[0]?.reveal()).toBe(isRead ? key : '')
    expect(crm?.auth?.oauth2?.clientSecret.reveal()).toBe(isRead ? 'client-secret-of-crm' : '')
  })

  it.each([
    ['signingKeyFile: outside', 'signingKeyFile'],
    ['signingKeyFile: [../keys/new]', 'signingKeyFile[0]'],
    ['auth: { oauth2: { tokenUrl: https://a.example, clientId: a, clientSecretFile: outside } }', 'clientSecretFile'],
    [
      'auth: { oauth2: { tokenUrl: https://a.example, clientId: a, clientSecretFile: ../keys/new } }',
      'clientSecretFile',
    ],
  ])('of destinationsFrom must be below the directory: %s', async (given, place) => {
    const folder = await configFolder({
      'hookline.yaml': `${main}destinationsFrom: more\n`,
      'more/a.yaml': `id: a\nsources: [web]\nwebhooks: [{ url: https://a.example }]\n${given}\n`,
      ...keyFiles,
    })
    await symlink('../keys/new', join(folder, 'more/outside'))
    const result = await loadConfigFile(join(folder, 'hookline.yaml'), {})
    const problems = result.problems.map(formatProblem)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(`${place}: names a file that is outside the directory of this destination`)
  })
})
