import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Consumer, installPacked, type Packed } from '../../support/client/packed-library.ts'

/* Tests of the content of the package. A contract test uses the package with a broker. */

const name = '@hookline/client-kafka'
const root = resolve(import.meta.dirname, '../../..')
let consumer: Consumer
let packed: Packed
beforeAll(async () => {
  consumer = await installPacked('@hookline/client', name)
  packed = consumer.packed[name]!
})
afterAll(() => consumer.close())

describe('the package', () => {
  it('contains the transport and the schema of events, but no part of the service', () => {
    const entry = 'dist/packages/client-kafka/src/index'
    const needed = ['package.json', 'README.md', 'LICENSE', `${entry}.js`, `${entry}.d.ts`]
    expect(packed.files).toEqual(expect.arrayContaining([...needed, 'schemas/hookline.events-value.avsc']))
    const places =
      /^dist\/(packages\/client(-kafka)?|src\/(core|adapters))\/|^schemas\/hookline\.events-value\.avsc$|^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/
    expect(packed.files.filter(file => !places.test(file))).toEqual([])
  })

  it('declares the imported packages with the versions of the service', () => {
    const imported = packed.files
      .filter(file => file.endsWith('.js'))
      .flatMap(file => [
        ...readFileSync(join(consumer.folder, 'node_modules', name, file), 'utf8').matchAll(specifiers),
      ])
      .map(([, specifier = '']) => specifier)
    const packages = new Set(imported.filter(each => !/^(\.|#|node:)/.test(each)))
    const service = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).dependencies as Record<string, string>
    // `imported` lacks kafkajs, because src/adapters/kafka/kafkajs/private-api.ts loads it without
    // an import statement.
    const expected = [...packages, 'kafkajs'].map(each => [each, service[each]])
    expect(packed.manifest.dependencies).toEqual(Object.fromEntries(expected))
  })
})
const specifiers = /^(?:import|export) (?:[^'"]*? from )?'([^']+)'/gm

it('loads with import and with require', async () => {
  const use = "kafkaTransport({ source: 'web', brokers: ['kafka:9092'], registry: { url: 'http://r' } }).close()"
  await consumer.write('loads.mjs', `import { kafkaTransport } from '${name}'\nawait ${use}`)
  await consumer.write('loads.cjs', `const { kafkaTransport } = require('${name}')\n${use}`)
  for (const file of ['loads.mjs', 'loads.cjs'])
    expect(await consumer.node(file)).toEqual({ code: 0, stdout: '', stderr: '' })
})
