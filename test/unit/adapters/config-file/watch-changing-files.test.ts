import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { formatProblem, type Problem } from '../../../../src/adapters/config-file/config-file.ts'
import { watchConfigFile } from '../../../../src/adapters/config-file/watch.ts'
import { revealed } from '../../../../src/core/secret.ts'
import { closingAfterEach } from '../../../support/cleanup.ts'
import { configFolder, loadValid } from '../../../support/config/folder.ts'
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
async function watched(env: NodeJS.ProcessEnv = {}) {
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
  const logged = (kind: string) => (problems: readonly Problem[]) =>
    log.push(...problems.map(problem => `${kind} ${formatProblem(problem).replaceAll(`${folder}/`, '')}`))
  const watch = watchConfigFile({
    ...{ path, env, start, clock: new ManualClock() },
    onChange: next => {
      settings = next
    },
    onAccepted: () => {
      accepted++
    },
    onExcluded: logged('excluded'),
    onRefused: logged('refused'),
  })
  closing({ close: async () => watch.close() })
  return {
    accepted: () => accepted,
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

const changed = 'changed in each of the last checks (write it only when the configuration changes'

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
    expect(await checkAfter({ 'one/a.yaml': destination('a', '3') })).toEqual([
      expect.stringContaining(`excluded one/a.yaml:1:1: the file: ${changed}`),
    ])
    expect(urls()).toEqual(['https://a.example/', 'https://b.example/new'])
    expect(await checkAfter({ 'one/a.yaml': destination('a', '4'), 'two/b.yaml': destination('b', 'half') })).toEqual([
      expect.stringContaining(`excluded one/a.yaml:1:1: the file: ${changed}`),
      expect.stringContaining(`excluded two/b.yaml:1:1: the file: ${changed}`),
    ])
    for (const version of ['5', '6']) await checkAfter({ 'one/a.yaml': destination('a', version) })
    expect(await checkAfter({ 'one/a.yaml': destination('a', '7') })).toEqual([])
    expect(urls()).toEqual(['https://a.example/', 'https://b.example/half'])
    for (let check = 0; check < 2; check++) expect(await checkAfter()).toEqual([])
    expect(urls()).toEqual(['https://a.example/7', 'https://b.example/half'])
  })

  it('a directory keeps its last valid destinations, and all other changes apply', async () => {
    const { checkAfter, urls, sources } = await watched()
    await checkAfter({ 'one/c.yaml': destination('c'), 'two/b.yaml': destination('b', 'new') })
    await checkAfter({ 'one/c.yaml': undefined })
    expect(await checkAfter({ 'one/c.yaml': destination('c') })).toEqual([
      expect.stringContaining(
        `excluded hookline.yaml:4:33: destinationsFrom[0].directory: names a path that ${changed}`,
      ),
    ])
    expect(urls()).toEqual(['https://a.example/', 'https://b.example/new'])
    expect(sources()).toEqual(['web'])
    const excluded = (...files: string[]) =>
      files.map(file => expect.stringContaining(`excluded ${file}:1:1: the file: ${changed}`))
    // The directory no longer changes, and two checks have read the file `one/c.yaml`.
    expect(await checkAfter({ 'two/b.yaml': destination('b', '1') })).toEqual(excluded('two/b.yaml'))
    expect(urls()).toEqual(['https://a.example/', 'https://b.example/new', 'https://c.example/'])
  })

  it('a directory does not remove a destination whose file is renamed in another directory', async () => {
    const { checkAfter, urls } = await watched()
    await checkAfter({ 'one/d.yaml': destination('d') })
    await checkAfter({ 'one/e.yaml': destination('e') })
    await checkAfter({ 'two/b.yaml': undefined, 'two/c.yaml': destination('b', 'renamed') })
    expect(urls()).toContain('https://b.example/')
    expect(await checkAfter({ 'one/f.yaml': destination('f') })).toEqual([
      expect.stringContaining(
        `excluded hookline.yaml:4:33: destinationsFrom[0].directory: names a path that ${changed}`,
      ),
    ])
    expect(urls()).toContain('https://b.example/renamed')
  })

  it('the configuration file is refused once, and applies when it stays the same', async () => {
    const { checkAfter, sources } = await watched()
    const texts = ['1', '2', '3', '4'].map(version => main('web', `# ${version}\n`))
    const logs: string[][] = []
    for (const text of texts) logs.push(await checkAfter({ 'hookline.yaml': text }))
    expect(logs).toEqual([[], [], [expect.stringContaining(`refused hookline.yaml:1:1: the file: ${changed}`)], []])
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
  const { checkAfter, urls, accepted } = await watched(env)
  expect(await checkAfter({ 'hookline.yaml': main(`"\${SOURCE}"`) })).toEqual([
    'refused hookline.yaml:1:1: the file: could not be loaded because of a bug in Hookline: Error: a bug (undo the last change of the configuration, and report the bug)',
  ])
  expect(await checkAfter()).toEqual([])
  await checkAfter({ 'hookline.yaml': main() })
  expect(accepted()).toBe(1)
  await checkAfter({ 'two/b.yaml': destination('b', 'new') })
  await checkAfter()
  expect(urls()).toEqual(['https://a.example/', 'https://b.example/new'])
})
