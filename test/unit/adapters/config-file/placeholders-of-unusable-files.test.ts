import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import type { Loaded } from '../../../../src/adapters/config-file/config-file.ts'
import { configFolder, loadValid } from '../../../support/config/config-folder.ts'

const main = `kafka: { brokers: [a:9092] }
registry: { url: http://registry:8081 }
sources: [{ id: web, writeKey: web-key }]
destinationsFrom: more
`
const entry = (id: string, more: string): string =>
  `id: ${id}\nsources: [web]\nwebhooks: [{ url: "https://${id}.example" }]\n${more}`

async function place(files: Record<string, string>) {
  const folder = await configFolder({ 'hookline.yaml': main, ...files })
  const load = (before?: Loaded): Promise<Loaded> => loadValid(join(folder, 'hookline.yaml'), { LIST: 'a, b' }, before)
  return { load, write: (name: string, text: string) => writeFile(join(folder, name), text) }
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
      expect(settings.destinations.map(({ id, isHeld, enabled, filter }) => ({ id, isHeld, enabled, filter }))).toEqual(
        [
          { id: 'a', isHeld: true, enabled: true, filter: { types: ['track'] } },
          { id: 'b', isHeld: true, enabled: false, filter: undefined },
          { id: 'c', isHeld: true, enabled: true, filter: { where: [total] } },
          { id: 'd', isHeld: true, enabled: true, filter: undefined },
        ],
      )
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
    expect(settings.destinations.map(({ isHeld, filter }) => [isHeld, filter])).toEqual([
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
    expect(settings.destinations.map(({ id, isHeld }) => [id, isHeld])).toEqual([
      ['a', undefined],
      ['b', true],
    ])
  })
})
