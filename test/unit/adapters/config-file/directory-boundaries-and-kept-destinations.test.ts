import { randomBytes } from 'node:crypto'
import { rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import type { Loaded } from '../../../../src/adapters/config-file/config-file.ts'
import { revealed } from '../../../../src/core/secret.ts'
import type { Destination } from '../../../../src/core/settings/settings.ts'
import { configFolder, loadValid } from '../../../support/config/config-folder.ts'
import { createAuthority } from '../../../support/network/certificates.ts'

const main = (from: string): string => `kafka: { brokers: [a:9092] }
registry: { url: http://registry:8081 }
sources: [{ id: web, writeKey: web-key }, { id: app, writeKey: app-key }]
destinationsFrom: ${from}
`
const destination = (id: string, more = '', sources = 'web'): string =>
  `id: ${id}\nsources: [${sources}]\nwebhooks: [{ url: "https://${id}.example" }]\n${more}`

async function place(files: Record<string, string>, from = 'more') {
  const folder = await configFolder({ 'hookline.yaml': main(from), 'secrets/operator': 'operator-key', ...files })
  const load = (before?: Loaded): Promise<Loaded> => loadValid(join(folder, 'hookline.yaml'), { TOKEN: 't' }, before)
  return { folder, load, write: (name: string, text: string) => writeFile(join(folder, name), text) }
}

const shown = ({ id, sources, isPlaceholder, webhooks }: Destination): string =>
  isPlaceholder === true
    ? `${id} held for ${sources.join() || 'nothing'}`
    : `${id} ${webhooks.map(({ url }) => revealed(url)).join()}`
const destinationsOf = ({ settings }: Loaded): string[] => settings.destinations.map(shown)
const problemsOf = ({ problems }: Loaded): string[] => problems.map(({ path, message }) => `${path}: ${message}`)

describe('a file of destinationsFrom', () => {
  it('names files below its directory, relative to it', async () => {
    const files = {
      'more/a.yaml':
        'id: a\nsources: [web]\nsharedSecretFile: keys/a\nwebhooks: [{ urlFile: keys/url, headers: { A: { file: keys/a } } }]\n',
      'more/keys/a': 'secret-of-a\n',
      'more/keys/url': 'https://a.example/x',
    }
    const { settings, problems } = await (await place(files)).load()
    expect(problems).toEqual([])
    const [{ secrets, webhooks }] = settings.destinations as [Destination]
    expect(secrets.map(secret => secret.reveal())).toEqual(['secret-of-a'])
    expect(webhooks.map(({ url, headers }) => [revealed(url), revealed(headers['A'] ?? '')])).toEqual([
      ['https://a.example/x', 'secret-of-a'],
    ])
  })

  it('names the files of its client certificate below its directory', async () => {
    const client = createAuthority().issue({ usage: 'client' })
    const tls = 'tls: { clientCertFile: keys/a.pem, clientKeyFile: keys/a.key, caFile: keys/a.pem }\n'
    const files = {
      'more/a.yaml': destination('a', tls),
      'more/keys/a.pem': client.cert,
      'more/keys/a.key': client.key,
    }
    const { settings, problems } = await (await place(files)).load()
    expect(problems).toEqual([])
    const { cert, key, ca } = settings.destinations[0]?.tlsIdentity ?? {}
    expect([cert, key?.reveal(), ca]).toEqual([client.cert, client.key, client.cert])
  })

  it.each(['clientCertFile', 'clientKeyFile', 'caFile'])('reads no %s outside of its directory', async key => {
    const { load } = await place({ 'more/a.yaml': destination('a', `tls: { ${key}: ../secrets/operator }\n`) })
    expect(problemsOf(await load())).toContainEqual(
      `tls.${key}: names a file that is outside the directory of this destination (see "destinationsFrom")`,
    )
  })

  it.each([
    ['by a relative path', '../secrets/operator'],
    ['by an absolute name', '/etc/hostname'],
    ['by a link', 'link'],
    ['by a link of a directory', 'linked/operator'],
  ])('reads no file outside of its directory: %s', async (_, name) => {
    const { folder, load } = await place({ 'more/a.yaml': destination('a', `sharedSecretFile: ${name}\n`) })
    await symlink('../secrets/operator', join(folder, 'more/link'))
    await symlink('../secrets', join(folder, 'more/linked'))
    const loaded = await load()
    expect(problemsOf(loaded)).toEqual([
      expect.stringMatching(/^sharedSecretFile: names a file that (is outside|does not exist)/),
    ])
    expect(destinationsOf(loaded)).toEqual(['a held for web'])
  })

  it('must be below its directory itself', async () => {
    const { folder, load } = await place({ 'other/a.yaml': destination('a'), 'more/README': '' })
    await symlink('../other/a.yaml', join(folder, 'more/a.yaml'))
    expect(problemsOf(await load())).toEqual([
      'the file: is outside the directory of this destination (see "destinationsFrom")',
    ])
  })

  it('may be a link within its directory, as Kubernetes mounts them', async () => {
    const { folder, load } = await place({ 'more/..1/a.yaml': destination('a'), 'more/README': '' })
    await symlink('..1', join(folder, 'more/..data'))
    await symlink('..data/a.yaml', join(folder, 'more/a.yaml'))
    expect(destinationsOf(await load())).toEqual(['a https://a.example'])
  })

  it.each([
    ['a URL', `id: a\nsources: [web]\nwebhooks: [{ url: "https://a.example/\${TOKEN}" }]\n`, 'webhooks[0].url'],
    [
      'a header',
      destination('a').replace(' }]', () => `, headers: { A: "\${TOKEN:-x}" } }]`),
      'webhooks[0].headers.***',
    ],
    ['an id', destination('a').replace('id: a', `id: "\${TOKEN}"`), 'id'],
  ])('cannot use environment variables in %s', async (_, text, path) => {
    const loaded = await (await place({ 'more/a.yaml': text })).load()
    const message = 'a file of "destinationsFrom" cannot use environment variables'
    expect(problemsOf(loaded)).toEqual([expect.stringContaining(`${path}: contains \${…}, but ${message}`)])
  })

  it('may contain a literal ${', async () => {
    const { settings } = await (
      await place({ 'more/a.yaml': destination('a').replace('a.example', () => `a.example/$\${x}`) })
    ).load()
    expect(settings.destinations[0]?.webhooks[0]?.url).toBe(`https://a.example/\${x}`)
  })
})

describe('several directories', () => {
  const two = '[{ directory: one, sources: [web] }, { directory: two }]'

  it('have destinations with the sources that the directory may use', async () => {
    const files = {
      'one/a.yaml': destination('a'),
      'one/b.yaml': destination('b', '', 'web, app'),
      'two/c.yaml': destination('c', '', 'app'),
    }
    const loaded = await (await place(files, two)).load()
    expect(problemsOf(loaded)).toEqual(['sources[1]: destinations of this directory must not use this source'])
    expect(destinationsOf(loaded)).toEqual(['a https://a.example', 'c https://c.example', 'b held for web'])
  })

  const missing = 'destinationsFrom[1].directory: names a path that does not exist'

  it('are refused completely at a start when one of them is missing', async () => {
    const { load } = await place({ 'one/a.yaml': destination('a') }, two)
    await expect(load()).rejects.toThrow(missing)
  })

  it('keep their destinations in a running process while they are missing, and other changes are applied', async () => {
    const { load, folder, write } = await place({ 'one/a.yaml': destination('a'), 'two/b.yaml': destination('b') }, two)
    const first = await load()
    await rename(join(folder, 'two'), join(folder, 'away'))
    await write('one/c.yaml', destination('c'))
    const second = await load(first)
    const third = await load(second)
    for (const loaded of [second, third]) {
      expect(problemsOf(loaded)).toEqual([missing])
      expect(destinationsOf(loaded)).toEqual(['a https://a.example', 'c https://c.example', 'b https://b.example'])
      expect(loaded.settings.excluded).toEqual({ files: 1, unnamed: 0 })
    }
    await rename(join(folder, 'away'), join(folder, 'two'))
    await rm(join(folder, 'two/b.yaml'))
    const fourth = await load(third)
    expect(destinationsOf(fourth)).toEqual(['a https://a.example', 'c https://c.example'])
    expect(fourth.settings.excluded).toBeUndefined()
    await rm(join(folder, 'two'), { recursive: true })
    expect((await load(fourth)).settings.excluded).toEqual({ files: 1, unnamed: 0 })
  })

  it.each(['bad', 'gone'])(
    'lose a source that the configuration file no longer allows, also while they are %s',
    async state => {
      const files = { 'one/a.yaml': destination('a', '', 'web, app') }
      const { load, folder, write } = await place(files, '[{ directory: one }]')
      const first = await load()
      await write('hookline.yaml', main('[{ directory: one, sources: [app] }]'))
      if (state === 'gone') await rename(join(folder, 'one'), join(folder, 'away'))
      expect((await load(first)).settings.destinations).toMatchObject([{ id: 'a', sources: ['app'], paused: false }])
    },
  )
})

describe('an unusable file', () => {
  const { cert, key } = createAuthority().issue({ usage: 'client' })
  const spaced = JSON.stringify({ clientCert: ` ${cert}`, clientKey: key })
  const audiences = 'more\naudiences: { list: [{ name: Buyers, destinations: [bad] }] }'

  it.each<[string, string, string, string[]]>([
    ['with an invalid value', destination('bad').replace('https', 'ftp'), 'bad held for web', []],
    ['that is cut off', 'id: bad\nsources: [web, app]\nwebhooks: [{ url: "https:', 'bad held for web,app', []],
    ['with an unknown source', destination('bad', '', 'web, nowhere'), 'bad held for web', []],
    ['without sources', 'id: bad\nwebhooks: [', 'bad held for nothing', []],
    ['that is empty', '', 'bad held for nothing', ['unnamed']],
    ['that is not text', '\u0000', 'bad held for nothing', ['unnamed']],
    ['with a space before its certificate', destination('bad', `tls: ${spaced}\n`), 'bad held for web', []],
  ])('%s affects only its own destination, at the start', async (_, text, held, unnamed) => {
    const { load } = await place({ 'more/bad.yaml': text, 'more/good.yaml': destination('good') }, audiences)
    const loaded = await load()
    expect(loaded.problems.length).toBeGreaterThan(0)
    expect(destinationsOf(loaded)).toEqual(['good https://good.example', held])
    expect(loaded.settings.excluded).toEqual({ files: 1, unnamed: unnamed.length })
  })

  it('keeps the destination that it had when it was last valid, and is loaded again when it is corrected', async () => {
    const { load, write } = await place({ 'more/a.yaml': destination('a', 'sharedSecretFile: key\n'), 'more/key': 'k' })
    const first = await load()
    await write('more/a.yaml', 'id: [')
    const second = await load(first)
    expect(destinationsOf(second)).toEqual(['a https://a.example'])
    expect(second.settings.excluded).toEqual({ files: 1, unnamed: 0 })
    const third = await load(second)
    expect(third.settings.destinations[0]?.secrets.map(secret => secret.reveal())).toEqual(['k'])
    await write('more/a.yaml', destination('b'))
    const fourth = await load(third)
    expect(destinationsOf(fourth)).toEqual(['b https://b.example'])
    expect(fourth.settings.excluded).toBeUndefined()
  })

  it.each([
    'audiences: { list: [{ name: Buyers, destinations: [gone] }] }',
    'canary: { destination: gone }',
    'notices: { destination: gone }',
  ])('that is missing: a destination that the configuration names is held: %s', async reference => {
    const { load, folder, write } = await place(
      { 'more/a.yaml': destination('gone'), 'more/b.yaml': destination('b') },
      `more\n${reference}`,
    )
    const first = await load()
    expect(first.settings.excluded).toBeUndefined()
    await write('more/a.yaml', destination('renamed'))
    const [problem, ...others] = (await load()).problems
    expect([problem?.file, problem?.message, others]).toEqual([
      join(folder, 'hookline.yaml'),
      'no destination has this id',
      [],
    ])
    expect(problem?.hint).toContain('destinationsFrom')
    await rm(join(folder, 'more/a.yaml'))
    for (const before of [undefined, first]) {
      const loaded = await load(before)
      expect(destinationsOf(loaded)).toEqual(['b https://b.example', 'gone held for nothing'])
      expect(loaded.settings.excluded).toEqual({ files: 1, unnamed: 0 })
    }
  })

  it('does not refuse the configuration when another file is missing', async () => {
    const { load } = await place(
      { 'more/bad.yaml': 'id: bad\nsources: [' },
      'more\naudiences: { list: [{ name: Buyers, destinations: [gone, bad] }] }',
    )
    const loaded = await load()
    expect(destinationsOf(loaded)).toEqual(['bad held for nothing', 'gone held for nothing'])
    expect(loaded.settings.excluded).toEqual({ files: 2, unnamed: 0 })
  })

  it('does not replace a destination of the config topic that the configuration names', async () => {
    const { load } = await place(
      { 'more/bad.yaml': 'id: bad\nsources: [', key: randomBytes(32).toString('hex') },
      'more\noperator: { encryptionKeyFile: key }\ncanary: { destination: stored-in-kafka }',
    )
    const loaded = await load()
    expect(destinationsOf(loaded)).toEqual(['bad held for nothing'])
    expect(loaded.settings.excluded).toEqual({ files: 1, unnamed: 0 })
  })

  it('does not hide other mistakes in the configuration file', async () => {
    const { load } = await place(
      { 'more/b.yaml': destination('b') },
      'more\naudiences: { list: [{ name: Buyers, destinations: [gone, b, b] }] }',
    )
    await expect(load()).rejects.toThrow('audiences.list[0].destinations[2]: is listed twice')
  })

  it.each([
    ['webhook', destination('a').replace('https:', 'http:')],
    ['token', destination('a', 'auth: { oauth2: { tokenUrl: "http://a.example", clientId: a, clientSecret: b } }')],
  ])(
    'with a plain %s URL is held while network.httpsOnly is true, also where it was valid before',
    async (_, plain) => {
      const { load, write } = await place({ 'more/a.yaml': plain, 'more/b.yaml': destination('b') })
      const first = await load()
      const shownFirst = destinationsOf(first)
      expect(first.problems).toEqual([])
      await write('hookline.yaml', `${main('more')}network: { httpsOnly: true }`)
      const second = await load(first)
      for (const loaded of [second, await load()]) {
        expect(destinationsOf(loaded).sort()).toEqual(['a held for web', 'b https://b.example'])
        expect(loaded.settings.excluded).toEqual({ files: 1, unnamed: 0 })
        expect(problemsOf(loaded)).toEqual([expect.stringContaining('does not allow')])
      }
      await write('hookline.yaml', main('more'))
      expect(destinationsOf(await load(second))).toEqual(shownFirst)
    },
  )

  it('keeps nothing of a file that was removed', async () => {
    const { load, folder } = await place({ 'more/a.yaml': destination('a'), 'more/b.yaml': destination('b') })
    const first = await load()
    await rm(join(folder, 'more/a.yaml'))
    expect(destinationsOf(await load(first))).toEqual(['b https://b.example'])
  })
})
