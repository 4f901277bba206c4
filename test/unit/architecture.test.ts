import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from '@jest/globals'

const root = resolve(import.meta.dirname, '../..')
const sources = ['src', 'packages/client/src', 'packages/client-kafka/src']
/**
 * Paths relative to `src`, for example `core/topics.ts`. Paths of other packages begin with
 * `packages/`.
 */
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
const importsOf = (file: string): string[] =>
  [...text(file).matchAll(/(?:from\s+|import\s+|import\()'([^']+)'/g)].map(match => match[1] as string)

const targetOf = (file: string, target: string): string => named(resolve(dirname(pathOf(file)), target))

/** The layers that each layer may import. Files directly in `src` may import every layer. */
const allowed: Record<string, readonly string[]> = {
  core: ['core'],
  services: ['core', 'services'],
  adapters: ['core', 'adapters'],
  'packages/client': ['core', 'packages/client'],
  'packages/client-kafka': ['core', 'adapters', 'packages/client', 'packages/client-kafka'],
  app: ['core', 'services', 'adapters', 'packages/client', 'app'],
}
const layerOf = (file: string): string | undefined => file.match(/^(packages\/[^/]+|[^/]+)\//)?.[1]

describe('a file imports only permitted layers', () => {
  it.each(files)('%s', file => {
    const layer = layerOf(file)
    if (layer === undefined) return
    const targets = importsOf(file)
      .filter(target => target.startsWith('.'))
      .map(target => targetOf(file, target))
    expect(targets.filter(target => !allowed[layer]?.includes(layerOf(target) ?? 'entry'))).toEqual([])
  })

  it('the function of this test finds the imports of a file', () => {
    expect(importsOf('core/topics.ts')).toContain('./time.ts')
  })
})

it('the code uses every dependency of the package', () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: object }
  const code = files.map(text).join('\n')
  expect(Object.keys(dependencies).filter(name => !code.includes(`'${name}`))).toEqual([])
})

const targetsOf = (file: string): string[] =>
  importsOf(file)
    .filter(target => target.startsWith('.'))
    .map(target => targetOf(file, target))
    .filter(target => files.includes(target))

/**
 * The groups of nodes that reach each other, by Tarjan's algorithm. Empty if the graph has no
 * cycle.
 */
function cyclesOf(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const found: string[][] = []
  const visit = (node: string): void => {
    index.set(node, index.size)
    low.set(node, index.get(node) as number)
    stack.push(node)
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) visit(next)
      if (stack.includes(next)) low.set(node, Math.min(low.get(node) as number, low.get(next) as number))
    }
    if (low.get(node) !== index.get(node)) return
    const group = stack.splice(stack.indexOf(node))
    if (group.length > 1) found.push(group.sort())
  }
  for (const node of graph.keys()) if (!index.has(node)) visit(node)
  return found
}

function graphOf(nodeOf: (file: string) => string): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>()
  for (const file of files) {
    const node = nodeOf(file)
    const next = graph.get(node) ?? new Set()
    for (const target of targetsOf(file)) if (nodeOf(target) !== node) next.add(nodeOf(target))
    graph.set(node, next)
  }
  return graph
}
/** The folder of a file, or the file itself if it is directly in a layer. */
const folderOf = (file: string): string => (file.split('/').length > 2 ? dirname(file) : file)

describe('there is no import cycle', () => {
  it('between files', () => {
    expect(cyclesOf(graphOf(file => file))).toEqual([])
  })

  it('between folders of a layer', () => {
    expect(cyclesOf(graphOf(folderOf))).toEqual([])
  })

  it('finds a cycle', () => {
    const graph = new Map(Object.entries({ a: new Set(['b']), b: new Set(['c']), c: new Set(['b']) }))
    expect(cyclesOf(graph)).toEqual([['b', 'c']])
  })
})

describe('names of files are unambiguous', () => {
  it('no folder has a file of the same name beside it', () => {
    const folders = new Set(files.map(file => dirname(file)))
    expect(files.filter(file => folders.has(file.replace(/\.ts$/, '')))).toEqual([])
  })

  /** Exempt are files of packages, commands, and files named like their folder. */
  it('no two files have the same name', () => {
    const isExempt = (file: string): boolean =>
      /^(app\/commands|packages)\//.test(file) || basename(dirname(file)) === basename(file, '.ts')
    const byName = Map.groupBy(
      files.filter(file => !isExempt(file)),
      file => basename(file),
    )
    expect(
      [...byName.values()]
        .filter(same => same.length > 1)
        .flat()
        .sort(),
    ).toEqual([])
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
  /** For each folder of `adapters/kafka`: the other folders that it may import. */
  const below: Record<string, readonly string[]> = {
    group: ['log', 'kafkajs'],
    producer: ['log', 'kafkajs'],
    log: ['kafkajs'],
    kafkajs: [],
  }

  it('every file is in one of them', () => {
    expect(inAdapter.filter(file => !folders.includes(folderOf(file)))).toEqual([])
  })

  it.each(folders)('%s imports only folders below it', folder => {
    const targets = inAdapter.filter(file => folderOf(file) === folder).flatMap(targetsOf)
    expect(targets.filter(target => ![folder, ...(below[folder] ?? [])].includes(folderOf(target)))).toEqual([])
  })

  it.each(folders)('%s has chains of at most five imports', folder => {
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

describe('the client library has few imports', () => {
  it.each(files.filter(file => layerOf(file) === 'packages/client'))(
    '%s imports only core/message and modules of Node',
    file => {
      const targets = importsOf(file).map(target => (target.startsWith('.') ? targetOf(file, target) : target))
      expect(targets.filter(target => !/^(packages\/client\/|core\/message\/|node:)/.test(target))).toEqual([])
    },
  )
})

describe('core is pure', () => {
  const impure = /\b(Date\.now|new Date\(\)|Math\.random|performance\.now|DateTime\.(now|utc\(\)|local\(\))|console\.)/
  it.each(files.filter(file => layerOf(file) === 'core'))('%s uses no clock, random numbers or console', file => {
    expect(text(file)).not.toMatch(impure)
  })
})

describe('each package is imported only in its folder', () => {
  const doors: Record<string, RegExp> = {
    kafkajs: /^adapters\/kafka\//,
    got: /^adapters\/webhook\//,
    undici: /^adapters\/webhook\//,
    fastify: /^adapters\/http\//,
    avsc: /^adapters\/avro\//,
    'prom-client': /^adapters\/metrics\//,
    pino: /^adapters\/logger-and-audit-log\.ts$/,
    yaml: /^adapters\/config-file\//,
    '@opentelemetry': /^adapters\/traces\//,
    commander: /^(main\.ts$|app\/)/,
    'cli-progress': /^(app|adapters)\//,
  }
  it.each(Object.entries(doors))('%s', (name, door) => {
    const users = files.filter(file => importsOf(file).some(target => target === name || target.startsWith(`${name}/`)))
    expect(users.filter(file => !door.test(file))).toEqual([])
  })
})
