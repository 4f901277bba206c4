import { describe, expect, it } from '@jest/globals'
import { z } from 'zod'
import { secretsIn } from '../../../../src/core/config-objects/find-and-replace-secrets.ts'
import { destination, source } from '../../../../src/core/settings/schema-of-source-and-destination.ts'
import { formatPath, type Path } from '../../../../src/core/settings/settings-problem.ts'

interface Node {
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
}

/** Keys that can also be set as `…File` although their values, certificates, are not secret. */
const certificates = ['tls.clientCert', 'tls.ca']

function secretKeys({ properties = {}, items }: Node, path: Path = []): readonly Path[] {
  const own = Object.keys(properties).filter(
    key => Object.hasOwn(properties, `${key}File`) && !certificates.includes(formatPath([...path, key])),
  )
  return [
    ...own.map(key => [...path, key]),
    ...Object.entries(properties).flatMap(([key, node]) => secretKeys(node, [...path, key])),
    ...(items === undefined ? [] : secretKeys(items, [...path, 0])),
  ]
}

function documentWith([key, ...rest]: Path): unknown {
  if (key === undefined) return 'a secret'
  return typeof key === 'number' ? [documentWith(rest)] : { [key]: documentWith(rest) }
}

describe.each([
  ['destination', destination, ['sharedSecret', 'webhooks[0].url', 'tls.clientKey']],
  ['source', source, ['writeKey']],
] as const)('the secrets of a %s', (kind, schema, known) => {
  const paths = secretKeys(z.toJSONSchema(schema, { io: 'input' }) as Node)

  it.each(paths.map(path => [formatPath(path), path] as const))('include %s', (name, path) => {
    const secrets = secretsIn(kind, documentWith(path) as Readonly<Record<string, unknown>>)
    expect([...secrets.keys()]).toEqual([name])
  })

  it('are found in the schema', () => {
    expect(paths.map(formatPath)).toEqual(expect.arrayContaining([...known]))
  })
})
