import { readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parse, stringify } from 'yaml'
import { keysAt } from '../../../src/core/settings/configuration-json-schema.ts'
import { allPages, blocksOf, checkout } from '../docs/pages.ts'
import { createAuthority } from '../network/certificates.ts'
import { configFolder } from './config-folder.ts'

const read = (path: string): string => readFileSync(join(checkout, path), 'utf8')
const accepted = (name: string): string => read(`test/fixtures/config/accepted/${name}`)

export const environment = {
  ...{ BROKERS: 'a:1', HOST: 'h', N: '6', SECRET: 'new-secret', EMPTY: '', INJECTED: 'x"}, y: [z', SAMPLE: '1' },
  ...{ PORTS: '443, 8443', WEBHOOK_URL: 'https://a.example' },
}

/**
 * Valid configurations from the chart, the docs and the tests. The files that they name must exist:
 * see `installed`.
 */
export const configurations: Readonly<Record<string, string>> = {
  minimal: accepted('minimal.yaml'),
  full: accepted('full.yaml'),
  environment: accepted('environment.yaml'),
  development: read('deploy/local/hookline.yaml'),
  compose: read('deploy/compose/hookline/hookline.yaml'),
  kubernetes: stringify(parse(read('deploy/helm/hookline/values.yaml')).config),
}

const required = {
  kafka: 'kafka: { brokers: [a:9092] }',
  registry: 'registry: { url: http://registry:8081 }',
  sources: 'sources: [{ id: web, writeKey: web-key }, { id: server, writeKey: app-key }]',
}

/** The partial examples of the documentation, completed with the required keys. */
export const shownConfigurations: readonly string[] = allPages()
  .flatMap(blocksOf)
  .filter(({ language }) => /^ya?ml$/.test(language))
  .flatMap(({ text }) => {
    const keys = [...text.matchAll(/^(\w+):/gm)].map(([, key]) => key as string)
    if (keys.length === 0 || !keys.every(key => keysAt([]).includes(key))) return []
    const missing = Object.entries(required).flatMap(([key, line]) => (keys.includes(key) ? [] : [line]))
    return [[...missing, text].join('\n')]
  })

export type Content = string | Uint8Array

/** The content as text, or undefined if it is not valid UTF-8. */
export function textOf(content: Content): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(content))
  } catch {
    return undefined
  }
}

export interface InstalledConfiguration {
  readonly path: string
  /** Files that configurations name, by their path relative to the configuration file. */
  readonly files: Readonly<Record<string, Content>>
  at(name: string): string
  write(text: Content): Promise<void>
  /** Restores one of `files`, or a folder with several of them. */
  restore(name: string): Promise<void>
}

/** Creates a folder with this configuration and with every file that configurations name. */
export async function installed(text: Content): Promise<InstalledConfiguration> {
  const authority = createAuthority()
  const client = authority.issue()
  const files = {
    'pki/ca.pem': authority.cert,
    'pki/client.pem': client.cert,
    'pki/client.key': client.key,
    'secrets/user': 'hookline\n',
    'secrets/password': 'web-key',
    'secrets/operator': 'operator-key',
    'secrets/ada': 'key-of-ada',
    'secrets/ada-new': 'new-key-of-ada',
    'secrets/web': 'web-key\n',
    'secrets/new': 'new-secret\n',
    'secrets/old': 'old-secret\n',
    '../secrets/web-write-key': 'web-key\n',
    'destinations.d/10-billing.json': accepted('destinations.d/10-billing.json'),
    'destinations.d/20-erp.yml': accepted('destinations.d/20-erp.yml'),
    'destinations.d/secrets/new': 'new-secret\n',
    'destinations.d/README.md': accepted('destinations.d/README.md'),
  }
  const folder = join(await configFolder({ 'config/hookline.yaml': text }), 'config')
  const path = join(folder, 'hookline.yaml')
  async function restore(name: string): Promise<void> {
    await rm(join(folder, name), { recursive: true, force: true })
    for (const [each, content] of Object.entries(files)) {
      if (each !== name && !each.startsWith(`${name}/`)) continue
      await mkdir(dirname(join(folder, each)), { recursive: true })
      await writeFile(join(folder, each), content)
    }
  }
  for (const name of Object.keys(files)) await restore(name)
  return { path, files, at: name => join(folder, name), write: content => writeFile(path, content), restore }
}
