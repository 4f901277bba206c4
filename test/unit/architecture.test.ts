import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from '@jest/globals'

const root = resolve(import.meta.dirname, '../..')
const sources = ['src', 'packages/client/src', 'packages/client-kafka/src']
/** Relative to `src`, as `core/topics.ts`; those of packages begin with `packages/`. */
const files = (
  await Promise.all(
    sources.map(async source =>
      (await readdir(join(root, source), { recursive: true })).map(name => named(join(root, source, name))),
    ),
  )
)
  .flat()
  .filter(name => name.endsWith('.ts'))
function named(path: string): string {
  return relative(root, path).replace(/^src\//, '')
}
const pathOf = (file: string): string => join(root, file.startsWith('packages/') ? '' : 'src', file)
const text = (file: string): string => readFileSync(pathOf(file), 'utf8')
/** Static imports, re-exports and dynamic imports. */
const importsOf = (file: string): string[] =>
  [...text(file).matchAll(/(?:from\s+|import\s+|import\()'([^']+)'/g)].map(match => match[1] as string)

const targetOf = (file: string, target: string): string => named(resolve(dirname(pathOf(file)), target))

/** Which layers a layer may import; the entries at the top of src may import all. */
const allowed: Record<string, readonly string[]> = {
  core: ['core'],
  services: ['core', 'services'],
  adapters: ['core', 'adapters'],
  'packages/client': ['core', 'packages/client'],
  'packages/client-kafka': ['core', 'adapters', 'packages/client', 'packages/client-kafka'],
  app: ['core', 'services', 'adapters', 'packages/client', 'app'],
}
const layerOf = (file: string): string | undefined => file.match(/^(packages\/[^/]+|[^/]+)\//)?.[1]

describe('imports go one way', () => {
  it.each(files)('%s', file => {
    const layer = layerOf(file)
    if (layer === undefined) return
    const targets = importsOf(file)
      .filter(target => target.startsWith('.'))
      .map(target => targetOf(file, target))
    expect(targets.filter(target => !allowed[layer]?.includes(layerOf(target) ?? 'entry'))).toEqual([])
  })

  it('sees the imports it judges', () => {
    expect(importsOf('core/topics.ts')).toContain('./units.ts')
  })
})

describe('the Kafka adapter has four folders', () => {
  const folders = ['group', 'log', 'producer', 'kafkajs']
  const folderOf = (file: string): string => file.split('/')[2] as string
  const inAdapter = files.filter(file => file.startsWith('adapters/kafka/'))
  const targetsOf = (file: string): string[] =>
    importsOf(file)
      .filter(target => target.startsWith('.'))
      .map(target => targetOf(file, target))
      .filter(target => target.startsWith('adapters/kafka/'))
  /** Which other folders each may import: a consumer reads the log, a producer counts partitions there. */
  const below: Record<string, readonly string[]> = {
    group: ['log', 'kafkajs'],
    producer: ['log', 'kafkajs'],
    log: ['kafkajs'],
    kafkajs: [],
  }

  it('holds every file in one of them', () => {
    expect(inAdapter.filter(file => !folders.includes(folderOf(file)))).toEqual([])
  })

  it.each(folders)('%s imports only folders below it', folder => {
    const targets = inAdapter.filter(file => folderOf(file) === folder).flatMap(targetsOf)
    expect(targets.filter(target => ![folder, ...(below[folder] ?? [])].includes(folderOf(target)))).toEqual([])
  })

  it.each(folders)('%s has at most five floors', folder => {
    const depthOf = (file: string): number =>
      1 +
      Math.max(
        0,
        ...targetsOf(file)
          .filter(target => folderOf(target) === folder)
          .map(depthOf),
      )
    const depths = inAdapter.filter(file => folderOf(file) === folder).map(depthOf)
    expect(Math.max(...depths)).toBeLessThanOrEqual(5)
  })
})

describe('the client library stays small', () => {
  it.each(files.filter(file => layerOf(file) === 'packages/client'))(
    '%s knows core/message and Node, nothing else',
    file => {
      const targets = importsOf(file).map(target => (target.startsWith('.') ? targetOf(file, target) : target))
      expect(targets.filter(target => !/^(packages\/client\/|core\/message\/|node:)/.test(target))).toEqual([])
    },
  )
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
