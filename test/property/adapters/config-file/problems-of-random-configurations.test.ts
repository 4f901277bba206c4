import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { type LoadResult, loadConfigFile, type Problem } from '../../../../src/adapters/config-file/config-file.ts'
import { changed, changes } from '../../../support/config/configuration-file-mutations.ts'
import {
  type Content,
  configurations,
  environment,
  type InstalledConfiguration,
  installed,
  shownConfigurations,
  textOf,
} from '../../../support/config/example-configurations.ts'

const secrets = ['web-key', 'app-key', 'new-secret', 'old-secret', 'crm-token', 'crm-query', 'dev-operator']

let installation: InstalledConfiguration
beforeAll(async () => {
  installation = await installed('')
})

/**
 * The text without quoted text and lists of possible values, which may repeat a value of the
 * configuration.
 */
const ownWords = (text: string): string =>
  text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').replaceAll(/(?:possible:|did you mean|becomes) .*/g, '')

/**
 * Returns what is wrong with a problem, for example that it contains a secret. `path` may be
 * absent: a problem that only says how many further problems exist has no path.
 */
function faultsOf(problem: Problem, contents: Readonly<Record<string, Content>>): readonly string[] {
  const { file, line, column, path = 'none', message, hint } = problem
  const content = contents[file]
  if (content === undefined) return [`no file: ${file}`]
  const found = (textOf(content) ?? '').split('\n')[line - 1]
  const place = column >= 1 && found !== undefined && column <= found.length + 1 ? [] : [`no place: ${line}:${column}`]
  const missing = Object.entries({ path, message, hint }).flatMap(([name, told]) => (told ? [] : [`no ${name}`]))
  // After a syntax error, the parser may have read a part of a secret as a key of the path.
  const own = `${ownWords(`${message} ${hint}`)} ${message.startsWith('is not valid YAML') ? path : ''}`
  const told = secrets.filter(secret => own.includes(secret)).map(secret => `tells ${secret}: ${own}`)
  return [...place, ...missing, ...told]
}

function judge(result: LoadResult, contents: Readonly<Record<string, Content>>): LoadResult['kind'] {
  if (result.kind === 'loaded') return 'loaded'
  expect(result.problems.length).toBeGreaterThan(0)
  expect(result.problems.flatMap(problem => faultsOf(problem, contents))).toEqual([])
  return 'refused'
}

async function load(content: Content): Promise<LoadResult['kind']> {
  await installation.write(content)
  return judge(await loadConfigFile(installation.path, environment), {
    ...Object.fromEntries(Object.entries(installation.files).map(([name, each]) => [installation.at(name), each])),
    [installation.path]: content,
  })
}

/** Counts the loaded and the rejected configurations. `least` is the smaller number. */
function counted(): { count(kind: LoadResult['kind']): void; least(): number } {
  const counts = { loaded: 0, refused: 0 }
  return { count: kind => counts[kind]++, least: () => Math.min(...Object.values(counts)) }
}

describe('unchanged configurations', () => {
  it.each(Object.entries(configurations))('%s is loaded', async (_, text) => {
    expect(await load(text)).toBe('loaded')
  })

  it('the documentation has examples', () => expect(shownConfigurations.length).toBeGreaterThan(5))
})

describe('1,500 files: each is loaded, or rejected with a position, a path, a reason and a hint', () => {
  it('for random changes of characters, keys, values or bytes', async () => {
    const { count, least } = counted()
    const text = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...Object.values(configurations)) },
      fc.constantFrom(...shownConfigurations),
    )
    await fc.assert(
      fc.asyncProperty(text, changes, async (original, change) => {
        count(await load(changed(original, change)))
      }),
      { numRuns: 1_000 },
    )
    expect(least()).toBeGreaterThan(35)
  }, 240_000)

  it('for any JSON as the configuration', async () => {
    const keys = fc.constantFrom(
      ...['kafka', 'registry', 'sources', 'destinations', 'webhooks', 'headers', 'delivery', 'network', 'audiences'],
      ...['list', 'id', 'url', 'allow', 'ports', 'sharedSecret', 'sharedSecretFile', 'destinationsFrom', 'tls'],
      ...['__proto__', 'toString'],
    )
    const { tree } = fc.letrec(tie => ({
      tree: fc.oneof(
        { depthSize: 'medium', withCrossShrink: true },
        fc.jsonValue({ maxDepth: 1 }),
        fc.array(tie('tree'), { maxLength: 7 }),
        fc.dictionary(keys, tie('tree'), { maxKeys: 8 }),
      ),
    }))
    await fc.assert(
      fc.asyncProperty(tree, async value => {
        await load(JSON.stringify(value))
      }),
      { numRuns: 200 },
    )
  })

  it('for any change of the files and folders that it names', async () => {
    const full = configurations['full'] as string
    const names = [...Object.keys(installation.files), 'destinations.d', 'secrets', 'pki']
    const fate = fc.oneof(
      fc.constantFrom('missing' as const, 'a circle' as const, 'a folder' as const),
      fc.uint8Array({ maxLength: 12 }),
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom(full, 'id: erp\nsources: [web', '[]', 'x'.repeat(70_000)),
      changes.map(each => changed('id: more\nsources: [web]\nwebhooks: [{ url: https://more.example }]\n', each)),
    )
    const several = fc
      .dictionary(fc.constantFrom(...names), fate, { minKeys: 1, maxKeys: 3 })
      .filter(fates => Object.keys(fates).every((name, _, all) => !all.some(each => each.startsWith(`${name}/`))))
    await installation.write(full)
    const { count, least } = counted()
    await fc.assert(
      fc.asyncProperty(several, async fates => {
        const contents: Record<string, Content> = { [installation.path]: full }
        for (const [name, each] of Object.entries({ ...installation.files, ...fates })) {
          contents[installation.at(name)] = ['missing', 'a circle', 'a folder'].includes(String(each)) ? '' : each
        }
        for (const [name, each] of Object.entries(fates)) await meets(name, each)
        count(judge(await loadConfigFile(installation.path, environment), contents))
        for (const name of Object.keys(fates)) await installation.restore(name)
      }),
      { numRuns: 300 },
    )
    expect(least()).toBeGreaterThan(25)
  })
})

async function meets(name: string, fate: Content): Promise<void> {
  const path = installation.at(name)
  await rm(path, { recursive: true, force: true })
  if (fate === 'missing') return
  if (fate === 'a circle') return symlink(path, path)
  if (fate === 'a folder') return void (await mkdir(path))
  return writeFile(path, fate)
}
