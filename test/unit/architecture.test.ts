import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from '@jest/globals'

const source = resolve(import.meta.dirname, '../../src')
const files = (await readdir(source, { recursive: true })).filter(name => name.endsWith('.ts'))
const text = (file: string): string => readFileSync(join(source, file), 'utf8')
/** Static imports, re-exports and dynamic imports. */
const importsOf = (file: string): string[] =>
  [...text(file).matchAll(/(?:from\s+|import\s+|import\()'([^']+)'/g)].map(match => match[1] as string)

/** Which layers a layer may import; the entries at the top of src may import all. */
const allowed: Record<string, readonly string[]> = {
  core: ['core'],
  services: ['core', 'services'],
  adapters: ['core', 'adapters'],
  client: ['core', 'client'],
  app: ['core', 'services', 'adapters', 'client', 'app'],
}
const layerOf = (file: string): string | undefined => (file.includes('/') ? file.split('/')[0] : undefined)

describe('imports go one way', () => {
  it.each(files)('%s', file => {
    const layer = layerOf(file)
    if (layer === undefined) return
    const targets = importsOf(file)
      .filter(target => target.startsWith('.'))
      .map(target => relative(source, resolve(dirname(join(source, file)), target)))
    expect(targets.filter(target => !allowed[layer]?.includes(layerOf(target) ?? 'entry'))).toEqual([])
  })

  it('sees the imports it judges', () => {
    expect(importsOf('core/topics.ts')).toContain('./units.ts')
  })
})

describe('the client library stays small', () => {
  it.each(files.filter(file => layerOf(file) === 'client'))('%s knows core/message and Node, nothing else', file => {
    const targets = importsOf(file).map(target =>
      target.startsWith('.') ? relative(source, resolve(dirname(join(source, file)), target)) : target,
    )
    expect(targets.filter(target => !/^(client\/|core\/message\/|node:)/.test(target))).toEqual([])
  })
})

describe('core is pure', () => {
  const impure = /\b(Date\.now|new Date\(\)|Math\.random|performance\.now|DateTime\.(now|utc\(\)|local\(\))|console\.)/
  it.each(files.filter(file => layerOf(file) === 'core'))('%s reads no clock, chance or console', file => {
    expect(text(file)).not.toMatch(impure)
  })
})

describe('each outside thing has one door', () => {
  const doors: Record<string, RegExp> = {
    kafkajs: /^adapters\/kafka\//,
    got: /^adapters\/webhook\//,
    undici: /^adapters\/webhook\//,
    fastify: /^adapters\/http\//,
    avsc: /^adapters\/(registry|avro-codec|avro-bounds)\.ts$/,
    '@kafkajs/confluent-schema-registry': /^adapters\/registry\.ts$/,
    'prom-client': /^adapters\/metrics\.ts$/,
    pino: /^adapters\/logger\.ts$/,
    yaml: /^adapters\/config-file\.ts$|^adapters\/config-file\//,
    '@opentelemetry': /^adapters\/traces\.ts$|^adapters\/traces\//,
    commander: /^(main\.ts$|app\/)/,
    'cli-progress': /^(app|adapters)\//,
  }
  it.each(Object.entries(doors))('%s', (name, door) => {
    const users = files.filter(file => importsOf(file).some(target => target === name || target.startsWith(`${name}/`)))
    expect(users.filter(file => !door.test(file))).toEqual([])
  })
})
