import { describe, expect, it } from '@jest/globals'
import { isNeeded, namedFiles, ownerOf } from '../../../../src/core/settings/named-files.ts'
import { formatPath } from '../../../../src/core/settings/problem.ts'
import type { ServiceName } from '../../../../src/core/settings/service-names.ts'

/** A configuration with every key that names a file. */
const everywhere = namedFiles({
  kafka: {
    brokers: ['a:1'],
    tls: { caFile: 'f', certFile: 'f', keyFile: 'f' },
    sasl: { mechanism: 'plain', usernameFile: 'f', passwordFile: 'f' },
  },
  registry: { url: 'http://r', usernameFile: 'f', passwordFile: 'f', caFile: 'f' },
  collector: { operatorKeyFile: 'f' },
  network: { caFile: 'f' },
  operator: { keys: [{ name: 'ada', role: 'read', keyFile: ['f', 'f'] }] },
  sources: [{ id: 'web', writeKeyFile: 'f' }],
  destinations: [
    { id: 'crm', sources: ['web'], sharedSecretFile: 'f', webhooks: [{ urlFile: 'f', headers: { A: { file: 'f' } } }] },
  ],
}).map(({ path }) => path)

const table: readonly [owner: ServiceName | undefined, paths: readonly string[]][] = [
  [
    undefined,
    [
      ...['kafka.tls.caFile', 'kafka.tls.certFile', 'kafka.tls.keyFile', 'kafka.sasl.usernameFile'],
      ...['kafka.sasl.passwordFile', 'registry.usernameFile', 'registry.passwordFile', 'registry.caFile'],
    ],
  ],
  [
    'collector',
    [
      ...['collector.operatorKeyFile', 'operator.keys[0].keyFile[0]', 'operator.keys[0].keyFile[1]'],
      'sources[0].writeKeyFile',
    ],
  ],
  [
    'dispatcher',
    [
      ...['network.caFile', 'destinations[0].sharedSecretFile', 'destinations[0].webhooks[0].urlFile'],
      'destinations[0].webhooks[0].headers.A.file',
    ],
  ],
  ['audiences', []],
]

describe('the files that each service needs', () => {
  it.each(table)('%s', (owner, paths) => {
    const found = everywhere.filter(path => ownerOf(path) === owner).map(formatPath)
    expect(found.sort()).toEqual([...paths].sort())
  })

  it.each<[ServiceName[], string, boolean]>([
    [['collector'], 'sources', true],
    [['collector'], 'destinations', false],
    [['collector', 'dispatcher'], 'destinations', true],
    [['audiences'], 'kafka', true],
    [[], 'registry', true],
    [[], 'operator', false],
    [['audiences'], 'constructor', true],
  ])('a process with %j, files below %s: %p', (services, key, expected) => {
    expect(isNeeded([key], new Set(services))).toBe(expected)
  })
})
