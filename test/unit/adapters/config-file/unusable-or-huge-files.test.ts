import { join, relative } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { formatProblem, loadConfigFile } from '../../../../src/adapters/config-file/config-file.ts'
import { configFolder } from '../../../support/config/config-folder.ts'

const main = `kafka: { brokers: [a:9092] }
registry: { url: http://registry:8081 }
sources: [{ id: web, writeKey: web-key }]
destinations: [{ id: crm, sources: [web], webhooks: [{ url: https://crm.example }] }]
destinationsFrom: more/
`
const keys =
  'id, enabled, paused, sources, sharedSecret, sharedSecretFile, secretRotatesAt, signingKey, signingKeyFile, auth, policy, lifecycle, filter, tls, webhooks'
const misnamed = '(create it, or correct its name: names are relative to the directory of the configuration file)'
const webhooks = 'webhooks: [{ url: https://a.example }]\n'

async function refusalOf(files: Record<string, string>): Promise<readonly string[]> {
  const folder = await configFolder(files)
  const result = await loadConfigFile(join(folder, 'hookline.yaml'), {})
  if (result.problems.length === 0) return ['loaded']
  return result.problems.map(problem => formatProblem(problem).replaceAll(`${folder}/`, ''))
}

it.each<[string, Record<string, string>, string[]]>([
  ['no configuration', {}, ['hookline.yaml:1:1: the file: does not exist (create it, or correct its name)']],
  [
    'a directory instead of the file',
    { 'hookline.yaml/a': '' },
    ['hookline.yaml:1:1: the file: is a directory (use a file instead)'],
  ],
  [
    'a file that is far too large',
    { 'hookline.yaml': '#'.repeat(8 * 1_048_576 + 1) },
    ['hookline.yaml:1:1: the file: is larger than 8388608 bytes (check that this is the right file)'],
  ],
  [
    'a device, which never ends',
    { 'hookline.yaml': main.replace('more/', 'more\nnetwork: { caFile: /dev/zero }'), 'more/README': '' },
    [
      'hookline.yaml:6:20: network.caFile: names a file that is not a regular file (use a regular file, not a pipe, socket or device)',
    ],
  ],
  [
    'a missing directory',
    { 'hookline.yaml': main },
    [`hookline.yaml:5:19: destinationsFrom: names a path that does not exist ${misnamed}`],
  ],
  [
    'a file instead of the directory',
    { 'hookline.yaml': main, more: '' },
    [
      'hookline.yaml:5:19: destinationsFrom: names a path that cannot be opened: a part of the path is a file, not a directory (correct the path, or replace that file with a directory)',
    ],
  ],
  ['an empty directory', { 'hookline.yaml': main, 'more/README': '' }, ['loaded']],
  [
    'a directory with the name of a file',
    { 'hookline.yaml': main, 'more/a.yaml/b': '' },
    ['more/a.yaml:1:1: the file: is a directory (use a file instead)'],
  ],
  [
    'an empty file',
    { 'hookline.yaml': main, 'more/a.yaml': '# nothing\n' },
    [
      'more/a.yaml:1:1: id: is missing (id of the destination in metrics, logs, dead letters and commands)',
      'more/a.yaml:1:1: sources: is missing (ids of the sources whose messages the destination receives)',
      'more/a.yaml:1:1: webhooks: is missing (one to five webhooks)',
    ],
  ],
  [
    'a list of destinations',
    { 'hookline.yaml': main, 'more/a.yaml': `- id: a\n` },
    [`more/a.yaml:1:1: the file: must be a mapping, not a list (possible keys: ${keys})`],
  ],
  [
    'problems with file names and paths within the file, the configuration file first',
    {
      'hookline.yaml': main.replace('crm, sources: [web]', 'crm, sources: [wbe]'),
      'more/a.yaml': `id: a\nsources: [web]\nwebhooks: [{ url: ftp://a.example }]\nheaders: {}\n`,
      'more/b.json': '{ "id": "b", "sources": ["web"], "sharedSecretFile": "nowhere", "webhooks": [] }',
      'more/c.yml': 'id: [',
    },
    [
      'hookline.yaml:4:37: destinations[0].sources[0]: no source has this id (did you mean web?)',
      'more/a.yaml:3:19: webhooks[0].url: must begin with http:// or https:// (URL that begins with http:// or https:// and contains no credentials)',
      `more/a.yaml:4:1: headers: unknown key (possible: ${keys})`,
      'more/b.json:1:54: sharedSecretFile: names a file that does not exist (create it, or correct its name: names are relative to the directory of the file with this error)',
      'more/b.json:1:77: webhooks: must have at least one entry (one to five webhooks)',
      'more/c.yml:1:6: id: is not valid YAML: flow sequence in block collection must be sufficiently indented and end with a ] (start all entries of one mapping or list at the same column, and close each bracket)',
    ],
  ],
  [
    'an id that another file uses',
    {
      'hookline.yaml': main,
      'more/a.yaml': `id: a\nsources: [web]\n${webhooks}`,
      'more/b.yaml': `sources: [web]\nid: a\n${webhooks}`,
      'more/c.yaml': `id: crm\nsources: [web]\n${webhooks}`,
    },
    [
      'more/b.yaml:2:5: id: is also the id of another destination (see more/a.yaml:1:5)',
      'more/c.yaml:1:5: id: is also the id of another destination (see hookline.yaml:4:22)',
    ],
  ],
  [
    'an environment variable in it',
    { 'hookline.yaml': main, 'more/a.yaml': `id: a\nsources: [web]\nenabled: \${MISSING}\n${webhooks}` },
    [
      `more/a.yaml:3:10: enabled: contains \${…}, but a file of "destinationsFrom" cannot use environment variables (write the value itself; for a URL or secret, you can instead name a file in the same directory, for example with "urlFile"; for a literal \${ write $\${)`,
    ],
  ],
])('%s', async (_, files, refused) => {
  expect(await refusalOf(files)).toEqual(refused)
})

describe.each(['linux'])('on %s', platform => {
  const onIt = process.platform === platform ? it : it.skip
  // `stat` shows both files as regular files of size 0, although they have content. A read of
  // `/proc/kmsg` waits forever.
  onIt.each(['/proc/self/status', '/proc/kmsg'])('refuses %s as a file, without waiting', async name => {
    const files = { 'hookline.yaml': `${main}collector: { operatorKeyFile: ${name} }\n`, 'more/README': '' }
    expect(await refusalOf(files)).toEqual([
      expect.stringMatching(
        /collector\.operatorKeyFile: names a file that (contains more|is not a regular|cannot be read)/,
      ),
    ])
  })
})

describe('a huge configuration', () => {
  const destinations = (count: number, webhook: string): string =>
    `destinations:\n${Array.from({ length: count }, (_, n) => ` - { id: d${n}, sources: [web], ${webhook} }`).join('\n')}`
  const own = main.replace(/^destinations.*\n/gm, '')

  it('of 300,000 keys is refused at the first key over the limit', async () => {
    const text = `${own}collector:\n${Array.from({ length: 300_000 }, (_, n) => `  key${n}: 1`).join('\n')}`
    expect(await refusalOf({ 'hookline.yaml': text })).toEqual([
      'hookline.yaml:1005:3: collector: has more than 1000 keys in one mapping (check that this is the right file)',
    ])
  })

  it('of 100,000 documents is refused at the second one', async () => {
    expect(await refusalOf({ 'hookline.yaml': `${own}${'---\na: 1\n'.repeat(100_000)}` })).toEqual([
      expect.stringContaining('a second YAML document starts here'),
    ])
  })

  // Quadratic time would be 16 times as long for four times as many destinations.
  it('of 10,000 destinations is loaded in linear time', async () => {
    const cpuMsOf = async (count: number): Promise<number> => {
      const text = `${own}${destinations(count, 'webhooks: [{ url: https://a.example }]')}`
      const before = process.cpuUsage()
      expect(await refusalOf({ 'hookline.yaml': text })).toEqual(['loaded'])
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1_000
    }
    let ratio = Number.POSITIVE_INFINITY
    for (let runs = 0; runs < 3 && ratio >= 8; runs += 1) {
      const few = await cpuMsOf(2_500)
      ratio = (await cpuMsOf(10_000)) / few
    }
    expect(ratio).toBeLessThan(8)
  })

  it('with 1,000 sources and 40,000 unknown ones is refused in linear time', async () => {
    const sources = Array.from({ length: 1_000 }, (_, n) => ` - { id: source-${n}, writeKey: key-${n} }`).join('\n')
    const named = Array.from({ length: 40_000 }, (_, n) => `unknown-${n}`).join()
    const text = `${own.replace(/^sources.*\n/gm, '')}sources:\n${sources}\n`
    const more = `destinations: [{ id: a, sources: [${named}], webhooks: [{ url: https://a.example }] }]\n`
    const before = process.cpuUsage()
    const refusal = await refusalOf({ 'hookline.yaml': text + more })
    expect(refusal).toHaveLength(101)
    // A comparison of each unknown name with each source would take more than 20 s of CPU time.
    expect(process.cpuUsage(before).user).toBeLessThan(20_000_000)
  })

  it('with 2,000 mistakes shows the first hundred and the number of the others', async () => {
    const text = `${own}${destinations(2_000, 'webhooks: [{ url: ftp://a.example }]')}`
    const refusal = await refusalOf({ 'hookline.yaml': text })
    expect(refusal).toHaveLength(101)
    expect(refusal.at(-1)).toMatch(
      /^hookline\.yaml:\d+:\d+: 1900 more problems not shown \(correct the problems above first\)$/,
    )
  })
})

it('names files relative to the given configuration path', async () => {
  const folder = await configFolder({ 'hookline.yaml': main, 'more/a.yaml': 'id: 7\n' })
  const given = relative(process.cwd(), folder)
  const result = await loadConfigFile(join(given, 'hookline.yaml'), {})
  expect(result.problems[0]?.file).toBe(join(given, 'more/a.yaml'))
})
