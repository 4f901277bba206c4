import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import { processClock } from '../../../../src/adapters/clock/process-clock.ts'
import { formatProblem, type Loaded } from '../../../../src/adapters/config-file/config-file.ts'
import { type ConfigWatch, watchConfigFile } from '../../../../src/adapters/config-file/watch.ts'
import { revealed } from '../../../../src/core/secret.ts'
import type { Settings } from '../../../../src/core/settings/settings.ts'
import { durationMs } from '../../../../src/core/time.ts'
import { configFolder, loadValid } from '../../../support/config/config-folder.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { createAuthority } from '../../../support/network/certificates.ts'

const config = (changes: { source?: string; clientId?: string; extra?: string } = {}): string => `
kafka: { brokers: [a:9092], clientId: ${changes.clientId ?? 'hookline'} }
registry: { url: http://registry:8081 }
sources: [{ id: ${changes.source ?? 'web'}, writeKeyFile: secrets/web }]
${changes.extra ?? ''}`

const watches: ConfigWatch[] = []
afterEach(() => {
  for (const watch of watches.splice(0)) watch.close()
})

/**
 * Watches a configuration file. `look()` checks the files, and `seen` lists all callbacks of the
 * watch.
 */
async function watched(files: Record<string, string> = {}) {
  const folder = await configFolder({ 'hookline.yaml': config(), 'secrets/web': 'first', ...files })
  const path = join(folder, 'hookline.yaml')
  const loaded = await loadValid(path, {})
  const seen: string[] = []
  let settings = loaded.settings
  const clock = new ManualClock()
  const watch = watchConfigFile({
    ...{ path, env: {}, clock, start: loaded },
    onChange(next, { live, needRestart }) {
      settings = next
      seen.push(`live ${live.join()} restart ${needRestart.join()}`)
    },
    onRefused: problems => seen.push(...problems.map(problem => formatProblem(problem).replace(`${folder}/`, ''))),
  })
  watches.push(watch)
  await watch.check()
  await watch.check()
  return {
    ...{ folder, path, seen, clock, watch, loaded },
    settings: () => settings,
    writeKey: () => settings.sources[0]?.writeKeys[0]?.reveal(),
    write: (name: string, content: string) => writeFile(join(folder, name), content),
    /** Checks twice, because a change is applied at the second check. Returns the callbacks. */
    async look() {
      seen.length = 0
      await watch.check()
      await watch.check()
      return [...seen]
    },
  }
}

describe('a change is applied', () => {
  it('when the file is edited in place', async () => {
    const { write, look, settings, seen } = await watched()
    expect(seen).toEqual([])
    await write('hookline.yaml', config({ source: 'app' }))
    expect(await look()).toEqual(['live sources restart '])
    expect(settings().sources[0]?.id).toBe('app')
    expect(await look()).toEqual([])
  })

  it('when the file is replaced by rename', async () => {
    const { write, folder, path, look } = await watched()
    await write('new', config({ source: 'app' }))
    await rename(join(folder, 'new'), path)
    expect(await look()).toEqual(['live sources restart '])
  })

  it('when Kubernetes swaps a mounted ConfigMap', async () => {
    const { folder, write, path, look, settings } = await watched()
    for (const [version, source] of [
      ['..1', 'web'],
      ['..2', 'app'],
    ] as const) {
      await mkdir(join(folder, version))
      await write(`${version}/hookline.yaml`, config({ source }))
    }
    await symlink('..1', join(folder, '..data'))
    await symlink('..data/hookline.yaml', join(folder, 'link'))
    await rename(join(folder, 'link'), path)
    expect(await look()).toEqual([])
    await symlink('..2', join(folder, '..data_tmp'))
    await rename(join(folder, '..data_tmp'), join(folder, '..data'))
    expect(await look()).toEqual(['live sources restart '])
    expect(settings().sources[0]?.id).toBe('app')
  })

  it('to a secret in its file', async () => {
    const { write, look, writeKey } = await watched()
    await write('secrets/web', 'second\n')
    expect(await look()).toEqual(['live sources restart '])
    expect(writeKey()).toBe('second')
  })

  it('to the URL and a header value of a webhook in their files', async () => {
    const extra = `destinations: [{ id: crm, sources: [web], webhooks: [{ urlFile: secrets/url, headers: { A: { file: secrets/a } } }] }]`
    const first = { 'secrets/url': 'https://one.example/x\n', 'secrets/a': 'one\n' }
    const { write, look, settings } = await watched({ ...first, 'hookline.yaml': config({ extra }) })
    const used = () =>
      settings().destinations[0]?.webhooks.map(({ url, headers }) => [revealed(url), revealed(headers['A'] ?? '')])
    expect(used()).toEqual([['https://one.example/x', 'one']])
    await write('secrets/url', 'https://two.example/y\n')
    expect(await look()).toEqual(['live destinations restart '])
    await write('secrets/a', 'two\n')
    expect(await look()).toEqual(['live destinations restart '])
    expect(used()).toEqual([['https://two.example/y', 'two']])
  })

  it('to a certificate in its file', async () => {
    const [before, after] = [createAuthority().cert, createAuthority().cert]
    const extra = 'network: { caFile: ca.pem }'
    const { write, look, settings } = await watched({ 'ca.pem': before, 'hookline.yaml': config({ extra }) })
    await write('ca.pem', after)
    expect(await look()).toEqual(['live network restart '])
    expect(settings().network.ca).toBe(after)
  })

  it('to the client certificate of a destination, when both of its files are changed', async () => {
    const [before, after] = [createAuthority().issue(), createAuthority().issue()]
    const extra = 'tls: { clientCertFile: client.pem, clientKeyFile: client.key }'
    const { write, look, settings } = await watched({
      'hookline.yaml': config({ extra: 'destinationsFrom: more' }),
      'more/a.yaml': `id: a\nsources: [web]\nwebhooks: [{ url: https://a.example }]\n${extra}\n`,
      'more/client.pem': before.cert,
      'more/client.key': before.key,
    })
    const identity = () => settings().destinations.find(({ id }) => id === 'a')?.tlsIdentity
    const first = identity()?.id
    await write('more/client.pem', after.cert)
    // The key does not fit the new certificate yet, so the last valid pair stays in use.
    await look()
    expect(identity()?.id).toBe(first)
    await write('more/client.key', after.key)
    await look()
    expect(identity()?.key?.reveal()).toBe(after.key)
    expect(identity()?.id).not.toBe(first)
  })

  it('to a destination whose file is added, changed and removed', async () => {
    const extra = 'destinationsFrom: more'
    const { write, folder, look, settings } = await watched({ 'more/README': '', 'hookline.yaml': config({ extra }) })
    const ids = () => settings().destinations.map(({ id }) => id)
    for (const id of ['crm', 'erp']) {
      await write('more/a.yaml', `id: ${id}\nsources: [web]\nwebhooks: [{ url: https://a.example }]\n`)
      expect(await look()).toEqual(['live destinations restart '])
      expect(ids()).toEqual([id])
    }
    await rm(join(folder, 'more/a.yaml'))
    expect(await look()).toEqual(['live destinations restart '])
    expect(ids()).toEqual([])
  })

  it('by the timer, at the second check', async () => {
    const { path, folder, write, loaded: start } = await watched()
    const changed = new Promise<Settings>((resolve, reject) => {
      const interval = durationMs(2)
      watches.push(
        watchConfigFile({
          ...{ path, env: {}, clock: processClock, start, interval },
          onChange: resolve,
          onRefused: reject,
        }),
      )
    })
    // The watch checks the file every 2 ms, and must not read an incomplete file.
    await write('new.yaml', config({ source: 'app' }))
    await rename(join(folder, 'new.yaml'), path)
    expect((await changed).sources[0]?.id).toBe('app')
  })

  it('within 5 s by default', async () => {
    const { write, clock, settings } = await watched()
    await write('hookline.yaml', config({ source: 'app' }))
    // At the end of each check, the watch sets the timer of the next one.
    await clock.advance(5_000, async () => {
      while (clock.timers === 0) await new Promise(resolve => setImmediate(resolve))
    })
    expect(settings().sources[0]?.id).toBe('app')
  })
})

/**
 * Checks the file twice with a watch that starts with the settings `start`. Returns the reports of
 * the watch: the changed live keys, or `refused`.
 */
async function toldSince(
  start: Loaded,
  { path, clock }: { path: string; clock: ManualClock },
): Promise<readonly string[]> {
  const seen: string[] = []
  const watch = watchConfigFile({
    ...{ path, env: {}, clock, start },
    onChange: (_, { live }) => seen.push(...live),
    onRefused: () => seen.push('refused'),
  })
  watches.push(watch)
  await watch.check()
  await watch.check()
  return seen
}

it('does not read files again that were read at the start, which would delay the process', async () => {
  const { loaded, ...place } = await watched()
  // If the watch read the file again, it would report that the settings have changed.
  const start = { ...loaded, settings: { ...loaded.settings, sources: [] } }
  expect(await toldSince(start, place)).toEqual([])
})

it('applies a change between the start and the first check', async () => {
  const { loaded, write, ...place } = await watched()
  await write('hookline.yaml', config({ source: 'app' }))
  expect(await toldSince(loaded, place)).toEqual(['sources'])
})

describe('nothing is applied', () => {
  it('before a second check sees the same, because the file may be half written', async () => {
    const { write, watch, seen, look } = await watched()
    await write('hookline.yaml', config({ source: 'ap' }))
    await watch.check()
    await write('hookline.yaml', config({ source: 'app' }))
    await watch.check()
    expect(seen).toEqual([])
    expect(await look()).toEqual(['live sources restart '])
  })

  it('while the file is missing for a moment', async () => {
    const { write, folder, path, watch, seen, look } = await watched()
    await rename(path, join(folder, 'old'))
    await watch.check()
    await write('hookline.yaml', config())
    expect(await look()).toEqual([])
    expect(seen).toEqual([])
  })

  it('when only a comment changes', async () => {
    const { write, look } = await watched()
    await write('hookline.yaml', `# new\n${config()}`)
    expect(await look()).toEqual([])
  })

  it('after close, which leaves no timer', async () => {
    const { write, watch, clock, look } = await watched()
    expect(clock.timers).toBe(1)
    watch.close()
    await write('hookline.yaml', config({ source: 'app' }))
    expect(await look()).toEqual([])
    expect(clock.timers).toBe(0)
  })
})

describe('an invalid file', () => {
  it('is reported once for each content, and the last valid settings stay until it is corrected', async () => {
    const { write, look, settings } = await watched()
    await write('hookline.yaml', config({ source: 'a b' }))
    const [refusal] = await look()
    expect(refusal).toContain('hookline.yaml:4:17: sources[0].id: must be')
    expect(await look()).toEqual([])
    await write('hookline.yaml', '[')
    expect(await look()).toEqual([expect.stringContaining('hookline.yaml:1:2: the file: is not valid YAML')])
    expect(settings().sources[0]?.id).toBe('web')
    await write('hookline.yaml', config({ source: 'app' }))
    expect(await look()).toEqual(['live sources restart '])
  })

  it('stays refused while a file that it names is missing', async () => {
    const { write, folder, look, writeKey } = await watched()
    await rm(join(folder, 'secrets/web'))
    expect(await look()).toEqual([
      expect.stringContaining('hookline.yaml:4:36: sources[0].writeKeyFile: names a file that does not exist ('),
    ])
    await write('secrets/web', 'second')
    expect(await look()).toEqual(['live sources restart '])
    expect(writeKey()).toBe('second')
  })

  it('is reported when it is missing', async () => {
    const { path, look } = await watched()
    await rm(path)
    expect(await look()).toEqual([expect.stringContaining('hookline.yaml:1:1: the file: does not exist (')])
  })
})

describe('a change that needs a restart', () => {
  it('is reported once, and has no effect', async () => {
    const { write, look, settings } = await watched()
    await write('hookline.yaml', config({ clientId: 'other', source: 'app' }))
    expect(await look()).toEqual(['live sources restart kafka'])
    expect(settings().kafka.clientId).toBe('hookline')
    await write('hookline.yaml', config({ clientId: 'other', source: 'app', extra: 'topics: { partitions: 3 }' }))
    expect(await look()).toEqual(['live  restart kafka,topics'])
    await write('hookline.yaml', config({ source: 'app' }))
    expect(await look()).toEqual([])
  })
})
