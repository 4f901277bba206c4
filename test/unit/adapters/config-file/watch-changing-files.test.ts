import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { formatProblem, type Problem } from '../../../../src/adapters/config-file/config-file.ts'
import { watchConfigFile } from '../../../../src/adapters/config-file/watch.ts'
import { revealed } from '../../../../src/core/secret.ts'
import type { Settings } from '../../../../src/core/settings/settings.ts'
import { closingAfterEach } from '../../../support/cleanup.ts'
import { configFolder, loadValid } from '../../../support/config/config-folder.ts'
import { ManualClock } from '../../../support/manual-clock.ts'

const closing = closingAfterEach()
const main = (source = 'web', more = ''): string => `kafka: { brokers: [a:9092] }
registry: { url: http://registry:8081 }
sources: [{ id: ${source}, writeKey: a-write-key-of-a-source }]
destinationsFrom: [{ directory: one }, { directory: two }]
${more}`
const destination = (id: string, more = ''): string =>
  `id: ${id}\nsources: [web]\nwebhooks: [{ url: "https://${id}.example/${more}" }]\n`

/**
 * Watches two directories with one destination each. `checkAfter` writes files, checks them, and
 * returns the log lines of this check.
 */
async function watched(
  env: NodeJS.ProcessEnv = {},
  override = (loaded: Settings): Settings => loaded,
  apply: (settings: Settings) => void = () => {},
) {
  const folder = await configFolder({
    'hookline.yaml': main(),
    'one/a.yaml': destination('a'),
    'two/b.yaml': destination('b'),
  })
  const path = join(folder, 'hookline.yaml')
  const start = await loadValid(path, {})
  let { settings } = start
  const log: string[] = []
  let accepted = 0
  const stacks: (string | undefined)[] = []
  const logged = (kind: string) => (problems: readonly Problem[]) =>
    log.push(...problems.map(problem => `${kind} ${formatProblem(problem).replaceAll(`${folder}/`, '')}`))
  const watch = watchConfigFile({
    ...{ path, env, start, override, clock: new ManualClock() },
    onChange: next => {
      apply(next)
      settings = next
    },
    onAccepted: () => {
      accepted++
    },
    onExcluded: logged('excluded'),
    onRefused(problems, stack) {
      logged('refused')(problems)
      stacks.push(stack)
    },
  })
  closing({ close: async () => watch.close() })
  return {
    accepted: () => accepted,
    stacks,
    urls: () => settings.destinations.flatMap(({ webhooks }) => webhooks.map(({ url }) => revealed(url))).sort(),
    sources: () => settings.sources.map(({ id }) => id),
    async checkAfter(files: Readonly<Record<string, string | undefined>> = {}) {
      log.length = 0
      for (const [name, content] of Object.entries(files))
        await (content === undefined ? rm(join(folder, name)) : writeFile(join(folder, name), content))
      await watch.check()
      return [...log]
    },
  }
}

const changed =
  'changed since the last check, so Hookline does not use its new content yet (write to this path only when the configuration changes'

it('a file that no configuration uses may change in a directory all the time', async () => {
  const { checkAfter, urls } = await watched()
  await checkAfter({ 'one/.tmp': '', 'two/b.yaml': destination('b', 'new') })
  await checkAfter({ 'one/.tmp': undefined, 'one/README': '' })
  expect(urls()).toEqual(['https://a.example/', 'https://b.example/new'])
})

describe('while it changes in each check', () => {
  it('a file keeps its last valid version, is reported once, and all other changes apply', async () => {
    const { checkAfter, urls } = await watched()
    await checkAfter({ 'one/a.yaml': destination('a', '1'), 'two/b.yaml': destination('b', 'new') })
    expect(await checkAfter({ 'one/a.yaml': destination('a', '2') })).toEqual([])
    expect(await checkAfter({ 'one/a.yaml': destination('a', '3') })).toEqual([])
    expect(urls()).toEqual(['https://a.example/', 'https://b.example/new'])
    expect(await checkAfter({ 'one/a.yaml': destination('a', '4'), 'two/b.yaml': destination('b', 'half') })).toEqual([
      expect.stringContaining(`excluded one/a.yaml:1:1: the file: ${changed}`),
    ])
    for (const version of ['5', '6', '7'])
      expect(await checkAfter({ 'one/a.yaml': destination('a', version) })).toEqual([])
    expect(urls()).toEqual(['https://a.example/', 'https://b.example/half'])
    for (let check = 0; check < 2; check++) expect(await checkAfter()).toEqual([])
    expect(urls()).toEqual(['https://a.example/7', 'https://b.example/half'])
  })

  it('a directory keeps its last valid destinations, and all other changes apply', async () => {
    const { checkAfter, urls, sources } = await watched()
    await checkAfter({ 'one/c.yaml': destination('c'), 'two/b.yaml': destination('b', 'new') })
    for (const content of [undefined, destination('c')]) await checkAfter({ 'one/c.yaml': content })
    expect(await checkAfter({ 'one/c.yaml': undefined })).toEqual([
      expect.stringContaining(
        `excluded hookline.yaml:4:33: destinationsFrom[0].directory: names a path that ${changed}`,
      ),
    ])
    expect(urls()).toEqual(['https://a.example/', 'https://b.example/new'])
    expect(sources()).toEqual(['web'])
    await checkAfter({ 'one/c.yaml': destination('c') })
    // Two checks in a row have read the same files in `one`, so its changes are applied.
    expect(await checkAfter({ 'two/b.yaml': destination('b', '1') })).toEqual([])
    expect(urls()).toEqual(['https://a.example/', 'https://b.example/new', 'https://c.example/'])
  })

  it('a directory does not remove a destination whose file is renamed in another directory', async () => {
    const { checkAfter, urls } = await watched()
    await checkAfter({ 'one/d.yaml': destination('d') })
    await checkAfter({ 'one/e.yaml': destination('e') })
    await checkAfter({ 'two/b.yaml': undefined, 'two/c.yaml': destination('b', 'renamed') })
    expect(urls()).toContain('https://b.example/')
    await checkAfter({ 'one/f.yaml': destination('f') })
    expect(urls()).toContain('https://b.example/renamed')
  })

  it('a single change of the configuration file applies at the second check, and is not reported', async () => {
    const { checkAfter, sources } = await watched()
    let version = 0
    const check = (files = {}) => checkAfter({ ...files, 'one/a.yaml': destination('a', `${version++}`) })
    for (let checks = 0; checks < 5; checks++) await check()
    expect(await check({ 'hookline.yaml': main('web, writeKey: first-write-key }, { id: app') })).toEqual([])
    expect(await check()).toEqual([])
    expect(sources()).toEqual(['web', 'app'])
  })

  it('the configuration file is refused once, and applies when it stays the same', async () => {
    const { checkAfter, sources } = await watched()
    const texts = ['1', '2', '3', '4'].map(version => main('web', `# ${version}\n`))
    const logs: string[][] = []
    for (const text of texts) logs.push(await checkAfter({ 'hookline.yaml': text }))
    expect(logs).toEqual([[], [], [], [expect.stringContaining(`refused hookline.yaml:1:1: the file: ${changed}`)]])
    await checkAfter({ 'hookline.yaml': main('web, writeKey: first-write-key }, { id: app') })
    for (let check = 0; check < 2; check++) expect(await checkAfter()).toEqual([])
    expect(sources()).toEqual(['web', 'app'])
  })
})

it('a bug of the loading is reported once, and the last valid settings stay in use', async () => {
  const env = {
    get SOURCE(): string {
      throw new Error('a bug')
    },
  }
  const { checkAfter, urls, accepted, stacks } = await watched(env)
  expect(await checkAfter({ 'hookline.yaml': main(`"\${SOURCE}"`) })).toEqual([
    'refused hookline.yaml:1:1: the file: could not be loaded or applied because of a bug in Hookline (undo the last change of the configuration, and report the bug)',
  ])
  // The message of the error is not logged, because it may contain text of the configuration.
  expect(stacks).toEqual([expect.stringMatching(/^ +at .*watch-changing-files\.test\.ts/)])
  expect(await checkAfter()).toEqual([])
  await checkAfter({ 'hookline.yaml': main() })
  expect(accepted()).toBe(1)
  await checkAfter({ 'two/b.yaml': destination('b', 'new') })
  await checkAfter()
  expect(urls()).toEqual(['https://a.example/', 'https://b.example/new'])
})

it('a bug while a change is applied is reported, and the next change applies', async () => {
  let isFaulty = true
  const { checkAfter, urls } = await watched({}, settings => {
    if (isFaulty) throw new Error('a bug')
    return settings
  })
  await checkAfter({ 'two/b.yaml': destination('b', 'faulty') })
  expect(await checkAfter()).toEqual([expect.stringContaining('refused hookline.yaml:1:1: the file: could not be')])
  isFaulty = false
  await checkAfter({ 'two/b.yaml': destination('b', 'new') })
  expect(await checkAfter()).toEqual([])
  expect(urls()).toEqual(['https://a.example/', 'https://b.example/new'])
})

it('settings that could not be applied because of a bug are applied with the next change of any file', async () => {
  let isFaulty = true
  const { checkAfter, urls } = await watched({}, undefined, () => {
    if (isFaulty) throw new Error('a bug')
  })
  await checkAfter({ 'two/b.yaml': destination('b', 'new') })
  expect(await checkAfter()).toEqual([expect.stringContaining('refused')])
  isFaulty = false
  await checkAfter({ 'hookline.yaml': main('web', '# a comment') })
  expect(await checkAfter()).toEqual([])
  expect(urls()).toEqual(['https://a.example/', 'https://b.example/new'])
})
