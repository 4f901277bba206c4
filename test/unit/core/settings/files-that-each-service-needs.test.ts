import { describe, expect, it } from '@jest/globals'
import {
  type FileReader,
  isNeeded,
  namedFiles,
  servicesThatNeed,
} from '../../../../src/core/settings/named-files-and-content-problems.ts'
import type { ServiceName } from '../../../../src/core/settings/service-names.ts'
import { formatPath } from '../../../../src/core/settings/settings-problem.ts'

const everywhere = namedFiles({
  kafka: {
    brokers: ['a:1'],
    tls: { caFile: 'f', certFile: 'f', keyFile: 'f' },
    sasl: { mechanism: 'plain', usernameFile: 'f', passwordFile: 'f' },
  },
  registry: { url: 'http://r', usernameFile: 'f', passwordFile: 'f', caFile: 'f' },
  collector: { operatorKeyFile: 'f' },
  network: { caFile: 'f', proxy: { url: 'http://p', username: 'u', passwordFile: 'f' } },
  operator: { keys: [{ name: 'ada', role: 'read', keyFile: ['f', 'f'] }], encryptionKeyFile: ['f', 'f'] },
  sources: [{ id: 'web', writeKeyFile: 'f' }],
  destinations: [
    {
      id: 'crm',
      sources: ['web'],
      sharedSecretFile: 'f',
      tls: { clientCertFile: 'f', clientKeyFile: 'f', caFile: 'f' },
      webhooks: [{ urlFile: 'f', headers: { A: { file: 'f' } } }],
    },
    {
      ...{ id: 'erp', sources: ['web'], webhooks: [], signingKeyFile: ['f', 'f'] },
      auth: { oauth2: { tokenUrl: 'http://t', clientId: 'a', clientSecretFile: 'f' } },
    },
  ],
}).map(({ path }) => path)

const table: readonly [owners: readonly ServiceName[] | undefined, paths: readonly string[]][] = [
  [
    undefined,
    [
      ...['kafka.tls.caFile', 'kafka.tls.certFile', 'kafka.tls.keyFile', 'kafka.sasl.usernameFile'],
      ...['kafka.sasl.passwordFile', 'registry.usernameFile', 'registry.passwordFile', 'registry.caFile'],
      ...['operator.encryptionKeyFile[0]', 'operator.encryptionKeyFile[1]'],
    ],
  ],
  [['collector'], ['collector.operatorKeyFile', 'sources[0].writeKeyFile']],
  [['operator'], ['operator.keys[0].keyFile[0]', 'operator.keys[0].keyFile[1]']],
  [
    ['dispatcher', 'operator'],
    [
      ...['network.caFile', 'destinations[0].sharedSecretFile', 'destinations[0].webhooks[0].urlFile'],
      'destinations[0].webhooks[0].headers.A.file',
      ...['destinations[0].tls.clientCertFile', 'destinations[0].tls.clientKeyFile', 'destinations[0].tls.caFile'],
      'network.proxy.passwordFile',
      ...['destinations[1].signingKeyFile[0]', 'destinations[1].signingKeyFile[1]'],
      'destinations[1].auth.oauth2.clientSecretFile',
    ],
  ],
  [['audiences'], []],
]

describe('the files that each service needs', () => {
  it.each(table)('%j', (owners, paths) => {
    const found = everywhere
      .filter(path => JSON.stringify(servicesThatNeed(path)) === JSON.stringify(owners))
      .map(formatPath)
    expect(found.sort()).toEqual([...paths].sort())
  })

  it.each<[FileReader[], string, boolean]>([
    [['collector'], 'sources', true],
    [['collector'], 'destinations', false],
    [['collector', 'dispatcher'], 'destinations', true],
    [['operator'], 'destinations', true],
    [['operator'], 'sources', false],
    [['collector'], 'operator', false],
    [['audiences'], 'kafka', true],
    [[], 'registry', true],
    [[], 'operator', false],
    [['audiences'], 'constructor', true],
    // All services follow the config topic, and some commands read it, so they need the encryption
    // key.
    [['audiences'], 'operator.encryptionKeyFile', true],
    [[], 'operator.encryptionKeyFile', false],
    [['config_topic'], 'operator.encryptionKeyFile', true],
    [['config_topic'], 'operator', false],
    [['config_topic'], 'destinations', false],
    [['config_topic'], 'kafka', true],
  ])('a process with %j, files below %s: %p', (services, key, expected) => {
    expect(isNeeded(key.split('.'), new Set(services))).toBe(expected)
  })
})
