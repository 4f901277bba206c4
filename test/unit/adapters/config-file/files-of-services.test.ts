import { rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { formatProblem, loadConfigFile } from '../../../../src/adapters/config-file/config-file.ts'
import { watchConfigFile } from '../../../../src/adapters/config-file/watch.ts'
import { setConfigurationMetrics } from '../../../../src/app/compose/configuration-and-health-gauges.ts'
import { type ServiceName, serviceNames } from '../../../../src/core/settings/service-names.ts'
import type { Settings } from '../../../../src/core/settings/settings.ts'
import { warningsOf } from '../../../../src/core/settings/warnings.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { configFolder, loadValid } from '../../../support/config/config-folder.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { createAuthority } from '../../../support/network/certificates.ts'
import { countingMetrics } from '../../../support/telemetry/counting-metrics.ts'

const config = `
kafka: { brokers: [a:9092], tls: {}, sasl: { mechanism: plain, username: u, passwordFile: all/password } }
registry: { url: http://registry:8081 }
network: { caFile: dispatcher/ca.pem, proxy: { url: 'http://p', username: u, passwordFile: dispatcher/proxy } }
operator: { keys: [{ name: ada, role: operate, keyFile: operator/ada }] }
sources: [{ id: web, writeKeyFile: [collector/web, collector/web-new] }]
destinations:
  - id: crm
    sources: [web]
    sharedSecretFile: dispatcher/crm
    webhooks: [{ urlFile: dispatcher/url, headers: { A: { file: dispatcher/token } } }]
  - id: erp
    sources: [web]
    sharedSecretFile: dispatcher/erp
    tls: { clientCertFile: dispatcher/client.pem, clientKeyFile: dispatcher/client.key, caFile: dispatcher/ca.pem }
    webhooks: [{ url: 'https://erp.example.com/hooks' }]
`
const client = createAuthority().issue({ usage: 'client' })
const contents: Readonly<Record<string, string>> = {
  'all/password': 'password',
  'operator/ada': 'operator-key-of-ada',
  'collector/web': 'write-key-of-web-1',
  'collector/web-new': 'write-key-of-web-2',
  'dispatcher/ca.pem': createAuthority().cert,
  'dispatcher/client.pem': client.cert,
  'dispatcher/client.key': client.key,
  'dispatcher/proxy': 'password-of-the-proxy',
  'dispatcher/crm': 'shared-secret-of-crm',
  'dispatcher/erp': 'shared-secret-of-erp',
  'dispatcher/url': 'https://crm.example.com/hooks',
  'dispatcher/token': 'Bearer a',
}

/** Creates a configuration file. Of the files that it names, only those in `folders` exist. */
async function folderWith(...folders: string[]) {
  const present = Object.entries(contents).filter(([name]) => folders.includes(name.split('/')[0]!))
  const folder = await configFolder({ 'hookline.yaml': config, ...Object.fromEntries(present) })
  return { folder, path: join(folder, 'hookline.yaml') }
}

async function load(folders: readonly string[], services: readonly ServiceName[]) {
  const { folder, path } = await folderWith(...folders)
  const result = await loadValid(path, {}, undefined, new Set(services))
  return { ...result, files: result.snapshot.paths().map(file => relative(folder, file)) }
}

const hashOf = (settings: Settings): string => {
  const counts = new Map<string, number>()
  setConfigurationMetrics(countingMetrics(counts), settings, epochMs(0))
  return [...counts.keys()].filter(key => key.startsWith('config{')).join()
}

describe('a process needs only the files of its services', () => {
  it.each<[ServiceName[], string[]]>([
    [['collector'], ['all', 'collector']],
    [['dispatcher'], ['all', 'dispatcher']],
    [['audiences'], ['all']],
    [['operator'], ['all', 'operator', 'dispatcher']],
    [
      ['collector', 'dispatcher'],
      ['all', 'collector', 'dispatcher'],
    ],
    [[], ['all']],
  ])('%j', async (services, folders) => {
    const { files, settings } = await load(folders, services)
    const needed = Object.keys(contents).filter(name => folders.includes(name.split('/')[0]!))
    expect(files.sort()).toEqual(['hookline.yaml', ...needed].sort())
    expect(warningsOf(settings)).toEqual([])
  })

  it.each<[ServiceName[], string[], string]>([
    [['collector'], ['all'], 'sources[0].writeKeyFile[0]: names a file that does not exist'],
    [['operator'], ['all', 'dispatcher'], 'operator.keys[0].keyFile: names a file that does not exist'],
    [['dispatcher'], ['all', 'collector'], 'destinations[0].sharedSecretFile: names a file that does not exist'],
    [['audiences'], ['collector', 'dispatcher'], 'kafka.sasl.passwordFile: names a file that does not exist'],
    [[...serviceNames], ['all', 'collector', 'operator'], 'network.caFile: names a file that does not exist'],
  ])('%j with the files of %j is refused', async (services, folders, words) => {
    await expect(load(folders, services)).rejects.toThrow(words)
  })

  it('reads a file that two services name when one of them runs', async () => {
    const folder = await configFolder({
      'hookline.yaml': config.replaceAll('dispatcher/crm', 'collector/web'),
      ...contents,
    })
    const result = await loadConfigFile(join(folder, 'hookline.yaml'), {}, undefined, new Set(['collector']))
    expect(result.kind).toBe('loaded')
  })

  it('processes of one configuration show the same hash, whichever services they run', async () => {
    const all = ['all', 'collector', 'dispatcher', 'operator']
    const loads = await Promise.all([...serviceNames.map(name => load(all, [name])), load(all, serviceNames)])
    expect(new Set(loads.map(({ settings }) => hashOf(settings))).size).toBe(1)
  })
})

describe('at runtime', () => {
  it('applies changes of a file that it needs, and does not read others', async () => {
    const services = new Set<ServiceName>(['collector'])
    const { folder, path } = await folderWith('all', 'collector', 'dispatcher')
    const start = await loadValid(path, {}, undefined, services)
    const seen: string[] = []
    const watch = watchConfigFile({
      ...{ path, env: {}, clock: new ManualClock(), start, services },
      onChange: (settings, { live }) => seen.push(live.join(), settings.sources[0]!.writeKeys[0]!.reveal()),
      onRefused: problems => seen.push(...problems.map(formatProblem)),
    })
    try {
      await rm(join(folder, 'dispatcher/crm'))
      for (let look = 0; look < 3; look++) await watch.check()
      expect(seen).toEqual([])
      await writeFile(join(folder, 'collector/web'), 'another-key-of-web')
      for (let look = 0; look < 3; look++) await watch.check()
      expect(seen).toEqual(['sources', 'another-key-of-web'])
    } finally {
      watch.close()
    }
  })
})
