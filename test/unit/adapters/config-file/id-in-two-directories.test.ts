import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import type { Loaded } from '../../../../src/adapters/config-file/config-file.ts'
import { revealed } from '../../../../src/core/secret.ts'
import { configFolder, loadValid } from '../../../support/config/config-folder.ts'

const main = `kafka: { brokers: [a:9092] }
registry: { url: http://registry:8081 }
sources: [{ id: web, writeKey: web-key }]
destinationsFrom: [{ directory: one }, { directory: two }]
`
const crm = (host: string): string => `id: crm\nsources: [web]\nwebhooks: [{ url: "https://${host}.example" }]\n`

const load = (folder: string, before?: Loaded): Promise<Loaded> => loadValid(join(folder, 'hookline.yaml'), {}, before)

const urlsOf = ({ settings }: Loaded): string[] =>
  settings.destinations.flatMap(({ id, webhooks }) => [id, ...webhooks.map(({ url }) => revealed(url))])
const message = 'is also the id of a destination in another directory'

it.each<[string, (folder: string) => Promise<void>]>([
  ['is cut off after its id', folder => writeFile(join(folder, 'one/a.yaml'), 'id: crm\nsources: [')],
  ['has no readable id', folder => writeFile(join(folder, 'one/a.yaml'), '[')],
  ['has another id and an invalid value', folder => writeFile(join(folder, 'one/a.yaml'), 'id: erp\nsources: [web]\n')],
  ['is in a directory that is missing', folder => rm(join(folder, 'one'), { recursive: true })],
])('does not give an id to another directory of a running process while its file %s', async (_, damage) => {
  const folder = await configFolder({ 'hookline.yaml': main, 'one/a.yaml': crm('own'), 'two/README': '' })
  const first = await load(folder)
  await damage(folder)
  await writeFile(join(folder, 'two/b.yaml'), crm('other'))
  const second = await load(folder, first)
  expect(urlsOf(second)).toEqual(['crm', 'https://own.example'])
  expect(second.problems.filter(({ file }) => file.endsWith('two/b.yaml')).map(problem => problem.message)).toEqual([
    message,
  ])
  expect(urlsOf(await load(folder, second))).toEqual(['crm', 'https://own.example'])
})

it('gives an id to the earlier directory, at a start and later', async () => {
  const folder = await configFolder({ 'hookline.yaml': main, 'one/a.yaml': crm('own'), 'two/README': '' })
  const before = await load(folder)
  await writeFile(join(folder, 'two/b.yaml'), crm('other'))
  for (const loaded of [await load(folder), await load(folder), await load(folder, before)]) {
    expect(urlsOf(loaded)).toEqual(['crm', 'https://own.example'])
    expect(loaded.settings.excluded).toEqual({ files: 1, unnamed: 0 })
    expect(loaded.problems).toEqual([
      {
        ...{ file: join(folder, 'two/b.yaml'), line: 1, column: 5, path: 'id', message },
        hint: `choose another id here; if files in two directories have the same id, Hookline uses the file of the directory that comes first in "destinationsFrom"; see ${join(folder, 'one/a.yaml')}:1:5`,
      },
    ])
  }
})

it('gives an id to a later directory only in a running process in which that directory had it first', async () => {
  const folder = await configFolder({ 'hookline.yaml': main, 'one/README': '', 'two/b.yaml': crm('other') })
  const before = await load(folder)
  await writeFile(join(folder, 'one/a.yaml'), crm('own'))
  expect(urlsOf(await load(folder, before))).toEqual(['crm', 'https://other.example'])
  expect(urlsOf(await load(folder))).toEqual(['crm', 'https://own.example'])
})

it('gives an id to neither directory at a start when the earlier file is cut off after the id', async () => {
  const files = { 'one/a.yaml': 'id: crm\nsources: [', 'two/b.yaml': crm('other') }
  expect(urlsOf(await load(await configFolder({ 'hookline.yaml': main, ...files })))).toEqual(['crm'])
})

it('gives an id to the earlier directory at a start when the later file is cut off after the id', async () => {
  const files = { 'one/a.yaml': crm('own'), 'two/b.yaml': 'id: crm\nsources: [' }
  expect(urlsOf(await load(await configFolder({ 'hookline.yaml': main, ...files })))).toEqual([
    'crm',
    'https://own.example',
  ])
})

it('gives an id to another directory after its file was removed', async () => {
  const folder = await configFolder({ 'hookline.yaml': main, 'one/a.yaml': crm('own'), 'two/README': '' })
  const first = await load(folder)
  await rm(join(folder, 'one/a.yaml'))
  await writeFile(join(folder, 'two/b.yaml'), crm('other'))
  expect(urlsOf(await load(folder, first))).toEqual(['crm', 'https://other.example'])
})
