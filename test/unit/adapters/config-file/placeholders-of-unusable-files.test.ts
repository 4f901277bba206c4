import { randomBytes } from 'node:crypto'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import type { Loaded } from '../../../../src/adapters/config-file/config-file.ts'
import { mergeObjects } from '../../../../src/core/config-objects/merge-objects.ts'
import { readObject } from '../../../../src/core/config-objects/read-object.ts'
import { createRouting } from '../../../../src/core/delivery/route.ts'
import { configFolder, loadValid } from '../../../support/config/config-folder.ts'
import { firstKey, named, sealedValue, sourceDocument } from '../../../support/config-objects/example-objects.ts'

const main = `kafka: { brokers: [a:9092] }
registry: { url: http://registry:8081 }
sources: [{ id: web, writeKey: web-key }]
destinationsFrom: more
`
const entry = (id: string, more: string): string =>
  `id: ${id}\nsources: [web]\nwebhooks: [{ url: "https://${id}.example" }]\n${more}`

async function place(files: Record<string, string>) {
  const folder = await configFolder({ 'hookline.yaml': main, ...files })
  const env = { LIST: 'a, b', PORTS: '8443, 9443', SOURCES: 'web, app' }
  const load = (before?: Loaded): Promise<Loaded> => loadValid(join(folder, 'hookline.yaml'), env, before)
  return { folder, load, write: (name: string, text: string) => writeFile(join(folder, name), text) }
}

describe('the destination of an unusable file of destinationsFrom', () => {
  it('is held with its filter and its lifecycle, and disabled if it is disabled, while network.httpsOnly is true', async () => {
    const plain = (id: string, more: string): string => entry(id, more).replace('https:', 'http:')
    const { load, write } = await place({
      'more/a.yaml': plain('a', 'filter: { types: [track] }'),
      'more/b.yaml': plain('b', 'enabled: false'),
      'more/c.yaml': plain('c', 'filter: { where: [{ path: properties.total, op: gt, value: 5 }] }'),
      'more/d.yaml': plain('d', 'lifecycle: { pauseKeepsWindow: true }'),
    })
    const first = await load()
    await write('hookline.yaml', `${main}network: { httpsOnly: true }`)
    const total = { path: 'properties.total', op: 'gt', value: 5 }
    for (const { settings } of [await load(first), await load()]) {
      const shown = settings.destinations.map(({ id, isPlaceholder, enabled, filter }) => ({
        id,
        isPlaceholder,
        enabled,
        filter,
      }))
      expect(shown).toEqual([
        { id: 'a', isPlaceholder: true, enabled: true, filter: { types: ['track'] } },
        { id: 'b', isPlaceholder: true, enabled: false, filter: undefined },
        { id: 'c', isPlaceholder: true, enabled: true, filter: { where: [total] } },
        { id: 'd', isPlaceholder: true, enabled: true, filter: undefined },
      ])
      expect(settings.destinations.at(-1)?.lifecycle).toMatchObject({ pauseKeepsWindow: true })
    }
  })

  it('is held without its filter when the filter is invalid', async () => {
    const where = '[{ path: properties.total, op: gt, value: five }]'
    const { load } = await place({
      'more/a.yaml': entry('a', `filter: { where: ${where} }`),
      'more/b.yaml': entry('b', 'filter: { types: [nothing] }'),
    })
    const { settings } = await load()
    expect(settings.destinations.map(({ isPlaceholder, filter }) => [isPlaceholder, filter])).toEqual([
      [true, undefined],
      [true, undefined],
    ])
  })

  it('is held when a list from the environment names it', async () => {
    const { load } = await place({
      'hookline.yaml': `${main}audiences: { list: [{ name: vip, destinations: "\${LIST}" }] }\n`,
      'more/a.yaml': entry('a', ''),
      'more/b.yaml': 'id: [',
    })
    const { settings } = await load()
    expect(settings.destinations.map(({ id, isPlaceholder }) => [id, isPlaceholder])).toEqual([
      ['a', undefined],
      ['b', true],
    ])
  })

  it('is held when a list from the environment limits the ports of URLs', async () => {
    const { load } = await place({
      'hookline.yaml': `${main}network: { ports: "\${PORTS}" }\n`,
      'more/a.yaml': entry('a', '').replace('a.example', 'a.example:9443'),
      'more/b.yaml': 'id: b\nsources: [web]\nwebhooks: [',
      'more/c.yaml': entry('c', ''),
    })
    const { settings } = await load()
    expect(settings.network.ports).toEqual([8443, 9443])
    expect(settings.destinations.map(({ id, isPlaceholder }) => [id, isPlaceholder])).toEqual([
      ['a', undefined],
      ['b', true],
      ['c', true],
    ])
  })
})

describe('a directory whose sources come from the environment', () => {
  const limited = main
    .replace('web-key }', 'web-key }, { id: app, writeKey: app-key }, { id: secret, writeKey: secret-key }')
    .replace('more', () => `[{ directory: more, sources: "\${SOURCES}" }]`)

  it('has destinations of only these sources', async () => {
    const { load } = await place({
      'hookline.yaml': limited,
      'more/a.yaml': entry('a', '').replace('web', 'web, app'),
      'more/b.yaml': entry('b', '').replace('web', 'web, secret'),
    })
    const { settings, problems } = await load()
    expect(problems.map(({ path, message }) => `${path}: ${message}`)).toEqual([
      'sources[1]: destinations of this directory must not use this source',
    ])
    expect(settings.destinations.map(({ id, isPlaceholder, sources }) => [id, isPlaceholder, sources])).toEqual([
      ['a', undefined, ['web', 'app']],
      ['b', true, ['web']],
    ])
  })

  it.each([
    ['an unknown source', 'web, nowhere', 'destinationsFrom[0].sources[1]: no source has this id'],
    ['no source', ' ', 'destinationsFrom: must be a directory, or a list of mappings'],
    ['an empty entry', 'web,', 'destinationsFrom[0].sources[1]: must be 1 to 63 letters'],
  ])('is refused when they have %s', async (_, list, problem) => {
    const { load } = await place({
      'hookline.yaml': limited.replace(`\${SOURCES}`, () => `\${EMPTY:-${list}}`),
      'more/a.yaml': entry('a', ''),
    })
    await expect(load()).rejects.toThrow(problem)
  })
})

describe('with a config topic, the destination of an unusable file', () => {
  const files = { key: randomBytes(32).toString('hex'), 'more/good.yaml': entry('good', '') }
  const operated = `${main}operator: { encryptionKeyFile: key }\n`
  const valid = entry('a', '').replace('[web]', '[app, web]')
  const ofTopic = readObject(named('source', 'app'), sealedValue(named('source', 'app'), sourceDocument()), {
    keys: [firstKey],
    context: {},
  })
  /** The destinations of the source `app`, which exists only in the config topic. */
  const routed = ({ settings }: Loaded) =>
    createRouting(mergeObjects(settings, [ofTopic]).settings)
      .bySource.get('app')
      ?.map(({ id, isPlaceholder }) => [id, isPlaceholder])

  it('keeps its sources of the topic when its file was valid before', async () => {
    const { folder, load, write } = await place({ ...files, 'hookline.yaml': operated, 'more/a.yaml': valid })
    const first = await load()
    await write('more/a.yaml', valid.replace('https:', 'ftp:'))
    const second = await load(first)
    await rename(join(folder, 'more'), join(folder, 'away'))
    for (const loaded of [second, await load(second)]) {
      expect(loaded.settings.excluded?.files).toBe(1)
      expect(routed(loaded)).toEqual([['a', undefined]])
    }
  })

  it.each([
    ['has a wrong value', valid.replace('https:', 'ftp:')],
    ['cannot be parsed', `${valid}filter: [`],
    ['has a source id that is not valid', valid.replace('web]', 'web, "no id", 5]')],
  ])('has its sources of the topic when its file %s at the start', async (_, text) => {
    const { load } = await place({ ...files, 'hookline.yaml': operated, 'more/a.yaml': text })
    const loaded = await load()
    expect(loaded.settings.destinations.find(({ id }) => id === 'a')?.sources).toEqual(['app', 'web'])
    expect(routed(loaded)).toEqual([['a', true]])
  })

  it('has only the sources that its directory may use', async () => {
    const from = '[{ directory: more, sources: [web] }]'
    const { load, write } = await place({ ...files, 'hookline.yaml': operated, 'more/a.yaml': valid })
    const first = await load()
    await write('hookline.yaml', operated.replace('more', from))
    for (const before of [first, undefined]) {
      const { settings } = await load(before)
      expect(settings.destinations.find(({ id }) => id === 'a')?.sources).toEqual(['web'])
    }
  })
})
