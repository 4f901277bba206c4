import { join, relative } from 'node:path'
import { expect, it } from '@jest/globals'
import { formatProblem, loadConfigFile } from '../../../../src/adapters/config-file.ts'
import { configFolder } from '../../../support/config-folder.ts'

const main = `kafka: { brokers: [a:9092] }
registry: { url: http://registry:8081 }
sources: [{ id: web, writeKey: web-key }]
destinations: [{ id: crm, sources: [web], webhooks: [{ url: https://crm.example }] }]
destinationsFrom: more/
`
const keys = 'id, enabled, paused, sources, sharedSecret, sharedSecretFile, webhooks'
const misnamed = '(make it, or mend its name: names are relative to the configuration file)'
const webhooks = 'webhooks: [{ url: https://a.example }]\n'

async function refusalOf(files: Record<string, string>): Promise<readonly string[]> {
  const folder = await configFolder(files)
  const result = await loadConfigFile(join(folder, 'hookline.yaml'), {})
  if (result.kind === 'loaded') return ['loaded']
  return result.problems.map(problem => formatProblem(problem).replaceAll(`${folder}/`, ''))
}

it.each<[string, Record<string, string>, string[]]>([
  ['no configuration', {}, ['hookline.yaml:1:1: the file: does not exist (make it, or mend its name)']],
  [
    'a directory in its place',
    { 'hookline.yaml/a': '' },
    ['hookline.yaml:1:1: the file: is a directory (name a file in it)'],
  ],
  [
    'a file that is far too large for one',
    { 'hookline.yaml': '#'.repeat(8 * 1_048_576 + 1) },
    ['hookline.yaml:1:1: the file: is larger than 8388608 bytes (is it the right file?)'],
  ],
  [
    'a device, which could be read for ever',
    { 'hookline.yaml': main.replace('more/', 'more\nnetwork: { caFile: /dev/zero }'), 'more/README': '' },
    ['hookline.yaml:6:20: network.caFile: "/dev/zero" is no regular file (name one that is)'],
  ],
  [
    'no directory of that name',
    { 'hookline.yaml': main },
    [`hookline.yaml:5:19: destinationsFrom: "more/" does not exist ${misnamed}`],
  ],
  [
    'a file in its place',
    { 'hookline.yaml': main, more: '' },
    [`hookline.yaml:5:19: destinationsFrom: "more/" is not a directory ${misnamed}`],
  ],
  ['an empty directory', { 'hookline.yaml': main, 'more/README': '' }, ['loaded']],
  [
    'a directory of the name of a file',
    { 'hookline.yaml': main, 'more/a.yaml/b': '' },
    ['more/a.yaml:1:1: the file: is a directory (name a file in it)'],
  ],
  [
    'an empty file',
    { 'hookline.yaml': main, 'more/a.yaml': '# nothing\n' },
    [
      'more/a.yaml:1:1: id: is missing (name of the destination; metrics, logs and dead letters carry it)',
      'more/a.yaml:1:1: sources: is missing (ids of the sources whose messages it gets)',
      'more/a.yaml:1:1: webhooks: is missing (one to five; a delivery is done when any of them succeeds)',
    ],
  ],
  [
    'a list of destinations',
    { 'hookline.yaml': main, 'more/a.yaml': `- id: a\n` },
    [`more/a.yaml:1:1: the file: must be a mapping, not a list (possible: ${keys})`],
  ],
  [
    'problems of each file with its name, paths from its top, the configuration first',
    {
      'hookline.yaml': main.replace('crm, sources: [web]', 'crm, sources: [wbe]'),
      'more/a.yaml': `id: a\nsources: [web]\nwebhooks: [{ url: ftp://a.example }]\nheaders: {}\n`,
      'more/b.json': '{ "id": "b", "sources": ["web"], "sharedSecretFile": "nowhere", "webhooks": [] }',
      'more/c.yml': 'id: [',
    },
    [
      'hookline.yaml:4:37: destinations[0].sources[0]: no source has this id (did you mean web?)',
      'more/a.yaml:3:19: webhooks[0].url: must begin with http:// or https:// (full URL with http:// or https://, without credentials)',
      `more/a.yaml:4:1: headers: unknown key (possible: ${keys})`,
      `more/b.json:1:54: sharedSecretFile: "nowhere" does not exist ${misnamed}`,
      'more/b.json:1:77: webhooks: must have at least one entry (one to five; a delivery is done when any of them succeeds)',
      'more/c.yml:1:6: id: is no valid YAML: flow sequence in block collection must be sufficiently indented and end with a ] (begin what belongs together at the same column)',
    ],
  ],
  [
    'an id that another file has',
    {
      'hookline.yaml': main,
      'more/a.yaml': `id: a\nsources: [web]\n${webhooks}`,
      'more/b.yaml': `sources: [web]\nid: a\n${webhooks}`,
      'more/c.yaml': `id: crm\nsources: [web]\n${webhooks}`,
    },
    [
      'more/b.yaml:2:5: id: is also the id of another destination (first at more/a.yaml:1:5)',
      'more/c.yaml:1:5: id: is also the id of another destination (first at hookline.yaml:4:22)',
    ],
  ],
  [
    'an environment variable in it that is not set',
    { 'hookline.yaml': main, 'more/a.yaml': `id: a\nsources: [web]\nenabled: \${MISSING}\n${webhooks}` },
    [
      `more/a.yaml:3:10: enabled: MISSING is not set in the environment (set it or give a default: \${MISSING:-default})`,
    ],
  ],
])('%s', async (_, files, refused) => {
  expect(await refusalOf(files)).toEqual(refused)
})

it('names files as the configuration was named', async () => {
  const folder = await configFolder({ 'hookline.yaml': main, 'more/a.yaml': 'id: 7\n' })
  const given = relative(process.cwd(), folder)
  const result = await loadConfigFile(join(given, 'hookline.yaml'), {})
  expect(result.kind === 'refused' && result.problems[0]?.file).toBe(join(given, 'more/a.yaml'))
})
