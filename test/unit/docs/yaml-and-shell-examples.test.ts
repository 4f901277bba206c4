import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { parse, parseAllDocuments, stringify } from 'yaml'
import { formatProblem, loadConfigFile } from '../../../src/adapters/config-file/config-file.ts'
import { keysAt } from '../../../src/core/settings/configuration-json-schema.ts'
import { configFolder } from '../../support/config/config-folder.ts'
import { keyFile } from '../../support/config-objects/example-objects.ts'
import { allPages, type Block, blocksOf, checkout, type Page } from '../../support/docs/pages.ts'
import { commandsIn } from '../../support/docs/split-shell-script.ts'
import { selfSigned } from '../../support/network/certificates.ts'

/*
 * Reads each example of a configuration with the reader of the service. Missing keys are added
 * first.
 */

const client = selfSigned()

type Mapping = Readonly<Record<string, unknown>>

const configurationKeys = keysAt([])
const destinationKeys = keysAt(['destinations', 0])
const chartKeys = Object.keys(
  JSON.parse(readFileSync(join(checkout, 'deploy/helm/hookline/values.schema.json'), 'utf8')).properties,
)
const isOf = (keys: readonly string[], value: Mapping): boolean => Object.keys(value).every(key => keys.includes(key))

function kindOf(value: unknown): 'configuration' | 'destination' | 'chart' | 'kubernetes' | 'unknown' {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'unknown'
  const mapping = value as Mapping
  if (isOf(configurationKeys, mapping)) return 'configuration'
  if (isOf(destinationKeys, mapping)) return 'destination'
  if (isOf(chartKeys, mapping)) return 'chart'
  return 'apiVersion' in mapping ? 'kubernetes' : 'unknown'
}

const yamlOf = (page: Page): readonly Block[] => blocksOf(page).filter(({ language }) => /^ya?ml$/.test(language))

const listed = (value: unknown): readonly Mapping[] => (Array.isArray(value) ? value : [])
const idsIn = (value: unknown): readonly string[] => listed(value).map(({ id }) => String(id))

/** The example with all other keys that a valid configuration needs. */
function completed(example: Mapping): Mapping {
  const told = [...listed(example['audiences'] && (example['audiences'] as Mapping)['list'])]
  const named = [...new Set(told.flatMap(({ destinations }) => destinations as string[]))]
  const webhooks = [{ url: 'https://hooks.example.com/' }]
  const own = listed(example['destinations'])
  const destinations = [
    ...own,
    ...named.filter(id => !idsIn(own).includes(id)).map(id => ({ id, sources: ['web'], webhooks })),
  ]
  const wanted = [...new Set(['web', ...destinations.flatMap(({ sources }) => sources as string[])])]
  const sources = wanted.map(id => ({ id, writeKey: `key-of-${id}` }))
  return {
    kafka: { brokers: ['kafka:9092'] },
    registry: { url: 'http://registry:8081' },
    sources,
    ...example,
    ...(destinations.length > 0 && { destinations }),
  }
}

function filesIn(value: unknown, key = ''): readonly string[] {
  if (typeof value === 'string') return /(^f|F)ile$/.test(key) ? [value] : []
  if (Array.isArray(value)) return value.flatMap(each => filesIn(each, key))
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, each]) => filesIn(each, name))
    : []
}

function contentOf(name: string, index: number): string {
  if (name.endsWith('.pem')) return client.cert
  if (name.endsWith('.key')) return client.key
  if (name.endsWith('url')) return 'https://hooks.example.com'
  if (name.includes('config-key')) return keyFile(name)
  return name.endsWith('signing-key') ? `whsk_${Buffer.alloc(32).toString('base64')}` : `secret-${index}\n`
}

async function problemsOf(example: Mapping): Promise<readonly string[]> {
  const configuration = completed(example)
  const folder = join(await configFolder(), 'config')
  const path = join(folder, 'hookline.yaml')
  await mkdir(folder)
  const from = [configuration['destinationsFrom'] ?? []].flat() as (string | { directory: string })[]
  for (const each of from) await mkdir(join(folder, typeof each === 'string' ? each : each.directory))
  for (const [index, name] of filesIn(configuration).entries()) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), contentOf(name, index))
  }
  // The configuration file does not permit aliases.
  const text = stringify(configuration, { aliasDuplicateObjects: false })
  await writeFile(path, text)
  const env = Object.fromEntries([...text.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => [name, 'value']))
  const result = await loadConfigFile(path, env)
  return result.kind === 'loaded' ? [] : result.problems.map(formatProblem)
}

const examples = allPages().flatMap(page =>
  yamlOf(page).flatMap(block =>
    parseAllDocuments(block.text).map(document => ({
      where: `${page.path}:${block.line}`,
      value: document.toJS() as Mapping,
      errors: document.errors,
    })),
  ),
)

describe('YAML', () => {
  it.each(examples)('$where', async ({ value, errors }) => {
    expect(errors).toEqual([])
    const kind = kindOf(value)
    expect(kind).not.toBe('unknown')
    if (kind === 'configuration') expect(await problemsOf(value)).toEqual([])
    if (kind === 'destination') expect(await problemsOf({ destinations: [value] })).toEqual([])
  })

  it('is on some pages, and the test finds mistakes', async () => {
    expect(examples.length).toBeGreaterThan(5)
    expect(kindOf(parse('destination: []'))).toBe('unknown')
    expect(await problemsOf({ destinations: [{ id: 'crm', sources: ['web'], webhook: [] }] })).toEqual([
      expect.stringContaining('is missing'),
      expect.stringContaining('unknown key'),
    ])
  })
})

describe('the words of a shell', () => {
  it.each<[string, string[][]]>([
    ['a b | c && d; e', [['a', 'b'], ['c'], ['d'], ['e']]],
    [
      `echo '{"a": 1}' | x --y "z 'q'"`,
      [
        ['echo', '{"a": 1}'],
        ['x', '--y', "z 'q'"],
      ],
    ],
    ['x \\\n  --y # not this\nz', [['x', '--y'], ['z']]],
    ['x < in > out 2>&1', [['x']]],
    ['x <name>', [['x', '<name>']]],
    ['a --b="$(c d)"', [['a', '--b=$(c d)']]],
    ['A=1 b', [['A=1', 'b']]],
  ])('%s', (script, commands) => expect(commandsIn(script)).toEqual(commands))
})
