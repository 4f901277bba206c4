import { beforeAll, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { parse, stringify } from 'yaml'
import { formatProblem, loadConfigFile } from '../../../src/adapters/config-file/config-file.ts'
import {
  configurations,
  environment,
  type InstalledConfiguration,
  installed,
} from '../../support/config/example-configurations.ts'

/** The text of a test secret. No key or id contains it. */
const marker = 'zQ7x9Kw3JvP5uY2m'
const full = configurations['full'] as string
const fullTree: unknown = parse(full)

let installation: InstalledConfiguration
beforeAll(async () => {
  installation = await installed('')
})

type Tree = Record<string, unknown> | unknown[]

function nodesOf(value: unknown): readonly Tree[] {
  if (typeof value !== 'object' || value === null) return []
  return [value as Tree, ...Object.values(value).flatMap(nodesOf)]
}

/** The configuration with the marker in one place. */
function planted(at: number, place: number, how: 'key' | 'value' | 'renamed' | 'mapping'): string {
  const tree = structuredClone(fullTree)
  const nodes = nodesOf(tree)
  const node = nodes[at % nodes.length] as Record<string, unknown>
  const keys = Object.keys(node)
  const key = keys[place % keys.length] ?? '0'
  switch (how) {
    case 'key':
      if (Array.isArray(node)) node.push(marker)
      else node[marker] = place % 2 === 0 ? 'x' : { [marker]: [marker] }
      break
    case 'value':
      node[key] = marker
      break
    case 'mapping':
      node[key] = { [marker]: marker, file: marker }
      break
    case 'renamed':
      node[marker] = node[key]
      delete node[key]
  }
  return stringify(tree)
}

const wrappings = [
  ...['', ' ', '\n', '\n  ', ': ', '|', '>', '&', '*', '!', '%', '"', "'", '@', '{', '[', '? ', '- ', '\t', '\\', '#'],
  ',',
]

const changes = fc.oneof(
  fc
    .tuple(fc.nat({ max: 10_000 }), fc.nat({ max: 10_000 }), fc.constantFrom('key', 'value', 'renamed', 'mapping'))
    .map(([at, place, how]) => planted(at, place, how as 'key')),
  fc
    .tuple(fc.nat({ max: full.length }), fc.constantFrom(...wrappings), fc.constantFrom(...wrappings))
    .map(([at, before, after]) => `${full.slice(0, at)}${before}${marker}${after}${full.slice(at)}`),
)

it('no problem repeats a secret, at any place in the configuration', async () => {
  let refused = 0
  await fc.assert(
    fc.asyncProperty(changes, async text => {
      await installation.write(text)
      const result = await loadConfigFile(installation.path, environment)
      if (result.kind === 'loaded') return
      refused++
      expect(result.problems.map(formatProblem).filter(line => line.includes(marker))).toEqual([])
    }),
    { numRuns: 600 },
  )
  expect(refused).toBeGreaterThan(380)
}, 240_000)

it.each([
  ['a key one line too low', `collector:\n  ${marker}: x`],
  ['a key at the top', `${marker}: x`],
  [
    'the name of a header',
    `destinations: [{ id: a, sources: [web], webhooks: [{ url: https://a.example, headers: { "Bearer ${marker}": x } }] }]`,
  ],
  ['the name of a file', `collector: { operatorKeyFile: ${marker} }`],
  ['the header of a block', `collector:\n  operatorKey: |${marker}\n    x`],
  ['a directive', `%${marker} x\n---`],
  ['a tag', `collector: { operatorKey: !${marker}!x y }`],
])('%s is not repeated', async (_, text) => {
  await installation.write(
    `kafka: { brokers: [a:9092] }\nregistry: { url: http://a }\nsources: [{ id: web, writeKey: a }]\n${text}\n`,
  )
  const result = await loadConfigFile(installation.path, environment)
  expect(result.kind).toBe('refused')
  expect(result.kind === 'refused' && result.problems.map(formatProblem).join('\n')).not.toContain(marker)
})
