import { join } from 'node:path'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { fingerprintOf } from '../../../../../src/core/config-objects/mask.ts'
import { closingAfterEach } from '../../../../support/cleanup.ts'
import { configFolder } from '../../../../support/config/config-folder.ts'
import { objectsCommand } from '../../../../support/operator/run-operator-api-commands.ts'

const closing = closingAfterEach()
let installation: Awaited<ReturnType<typeof objectsCommand>>
beforeEach(async () => {
  installation = closing(await objectsCommand())
})

const secret = 'a shared secret of the crm'
const crm = `id: crm
sources: [web]
sharedSecret: ${secret}
webhooks:
  - { url: https://crm.example.com/hooks, headers: { Authorization: Bearer short } }
`
const other = (id: string): string =>
  `{ id: ${id}, sources: [web], webhooks: [{ url: "https://${id}.example.com" }] }\n`

async function apply(files: Readonly<Record<string, string>>, ...options: string[]) {
  const folder = await configFolder(files)
  const result = await installation.run(['destinations', 'apply', '-f', folder, ...options])
  return { ...result, err: result.err.replaceAll(`${folder}/`, '') }
}

describe('apply', () => {
  it('creates destinations and shows them without secrets', async () => {
    expect(await apply({ 'a.yaml': crm, 'b.yaml': other('billing') })).toEqual({
      code: 0,
      err: '',
      out: `+ destination crm
    sources: ["web"]
    sharedSecret: ***
    webhooks: [{"url":"https://crm.example.com/***","headers":{"Authorization":"***"}}]
+ destination billing
    sources: ["web"]
    webhooks: [{"url":"https://billing.example.com"}]
destinations: 2 created
`,
    })
    expect(Object.keys(installation.documents('destination'))).toEqual(['billing', 'crm'])
  })

  it('changes nothing when the same files are applied again, also with a short secret', async () => {
    await apply({ 'a.yaml': crm })
    expect(await apply({ 'a.yaml': crm }, '--dry-run')).toEqual({
      ...{ code: 0, err: '' },
      out: 'destinations: 1 unchanged (dry run: nothing was applied)\n',
    })
    expect(await apply({ 'a.yaml': crm })).toEqual({ code: 0, out: 'destinations: 1 unchanged\n', err: '' })
    expect(installation.objects.get('destination', 'crm')?.version).toBe(1)
  })

  it('shows the changed fields, with fingerprints of secrets', async () => {
    await apply({ 'a.yaml': crm })
    const newer = 'another shared secret of the crm'
    const { out } = await apply({ 'a.yaml': crm.replace(secret, newer).replace('[web]', '[web, server]') })
    expect(out).toBe(`~ destination crm
    sources: ["web"] → ["web","server"]
    sharedSecret: *** (${fingerprintOf(secret)}) → *** (${fingerprintOf(newer)})
    webhooks[0].headers.Authorization: *** → *** (fewer than 16 characters, so no fingerprint is shown)
destinations: 1 changed
`)
  })

  it('prints JSON', async () => {
    const { out } = await apply({ 'a.yaml': other('crm') }, '--json', '--dry-run')
    expect(JSON.parse(out)).toEqual({
      result: 'planned',
      objects: [
        {
          id: 'crm',
          action: 'create',
          changes: [
            { path: 'sources', after: ['web'] },
            { path: 'webhooks', after: [{ url: 'https://crm.example.com' }] },
          ],
        },
      ],
    })
  })

  it('with --dry-run changes nothing', async () => {
    const { out } = await apply({ 'a.yaml': other('crm') }, '--dry-run')
    expect(out).toContain('destinations: 1 to create (dry run: nothing was applied)\n')
    expect(installation.documents('destination')).toEqual({})
    expect(installation.audited).toEqual([
      expect.objectContaining({ action: 'put_destination', destination: 'crm', dryRun: true }),
    ])
  })

  it('keeps a pause and a secret that are not in the file', async () => {
    await apply({ 'a.yaml': crm })
    await installation.run(['destinations', 'pause', 'crm'])
    await installation.run(['destinations', 'rotate-secret', 'crm'])
    const file = crm.replace(/^sharedSecret.*\n/m, '').replace('/hooks', '/v2')
    expect((await apply({ 'a.yaml': file })).out).toMatch(
      /^~ destination crm\n {4}webhooks\[0\]\.url: .*\n.*\ndestinations: 1 changed\n$/,
    )
    expect(installation.documents('destination')['crm']).toMatchObject({ paused: true, sharedSecret: ['***', '***'] })
  })

  it('with --prune deletes the other destinations of the API, and none of the file', async () => {
    await apply({ 'a.yaml': other('a'), 'b.yaml': other('b') })
    const { out, code } = await apply({ 'a.yaml': other('a') }, '--prune')
    expect({ out, code }).toEqual({ code: 0, out: '- destination b\ndestinations: 1 deleted, 1 unchanged\n' })
    expect(installation.objects.list('destination').map(({ id }) => id)).toEqual(['a', 'filed', 'waiting'])
  })

  it('replaces variables and files with secrets', async () => {
    const folder = await configFolder({
      'crm.yaml': crm
        .replace(/^sharedSecret.*$/m, 'sharedSecretFile: secret')
        .replace('Bearer short', `"Bearer \${TOKEN}"`),
      secret,
    })
    const argv = ['destinations', 'apply', '-f', join(folder, 'crm.yaml')]
    expect(await installation.run(argv, { env: { TOKEN: 'a-token-of-the-crm' } })).toMatchObject({ code: 0, err: '' })
    expect(installation.objects.get('destination', 'crm')?.fingerprints).toMatchObject({
      sharedSecret: fingerprintOf(secret),
      'webhooks[0].headers.Authorization': fingerprintOf('Bearer a-token-of-the-crm'),
    })
  })

  it('reads stdin', async () => {
    const { code, out } = await installation.run(['destinations', 'apply', '-f', '-'], { stdin: other('crm') })
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('1 created') })
  })

  it('applies the output of show', async () => {
    await apply({ 'a.yaml': crm })
    const { out } = await installation.run(['destinations', 'show', 'crm'])
    expect(await apply({ 'a.yaml': out })).toMatchObject({ code: 0, out: 'destinations: 1 unchanged\n' })
    expect(await apply({ 'a.yaml': out.replace('- web', '- server') })).toMatchObject({
      ...{ code: 0, out: '~ destination crm\n    sources: ["web"] → ["server"]\ndestinations: 1 changed\n' },
    })
    expect(installation.objects.get('destination', 'crm')?.fingerprints).toMatchObject({
      sharedSecret: fingerprintOf(secret),
    })
  })

  it('applies sources, whose write keys are secret', async () => {
    const folder = await configFolder({ 's.yaml': '- { id: app, writeKey: a write key of the app }\n' })
    const argv = ['sources', 'apply', '-f', join(folder, 's.yaml')]
    expect(await installation.run(argv)).toEqual({
      ...{ code: 0, err: '' },
      out: '+ source app\n    writeKey: ***\nsources: 1 created\n',
    })
    expect((await installation.run(argv)).out).toBe('sources: 1 unchanged\n')
  })

  it('moves a write key to another source after the first source has got another key', async () => {
    const folder = await configFolder({
      'app.yaml': '{ id: app, writeKey: the-write-key }\n',
      'shop.yaml': '{ id: shop, writeKey: the-write-key }\n',
      'app-without-it.yaml': '{ id: app, writeKey: another-write-key }\n',
    })
    const applied = (file: string) => installation.run(['sources', 'apply', '-f', join(folder, file), '--prune'])
    expect(await applied('app.yaml')).toMatchObject({ code: 0 })
    const err = expect.stringMatching(/shop\.yaml:1:\d+: writeKey: is also the write key of another source/)
    expect(await applied('shop.yaml')).toMatchObject({ code: 2, err })
    expect(await applied('app-without-it.yaml')).toMatchObject({ code: 0 })
    expect(await applied('shop.yaml')).toMatchObject({ code: 0 })
    expect(Object.keys(installation.documents('source'))).toEqual(['shop'])
  })
})

describe('apply changes nothing', () => {
  it('when a file is not valid', async () => {
    expect(await apply({ 'a.yaml': other('a'), 'b.yaml': 'id: b\nsource: [web]\n' })).toEqual({
      code: 2,
      out: '',
      err: expect.stringMatching(
        /^b\.yaml:1:1: sources: is missing .*\nb\.yaml:1:1: webhooks: is missing .*\nb\.yaml:2:1: source: unknown key \(did you mean sources\?\)\n$/,
      ),
    })
    expect(installation.documents('destination')).toEqual({})
  })

  it('when the operator service refuses one change, and says where in the file', async () => {
    const files = {
      'a.yaml': other('a'),
      'b.yaml': other('b').replace('[web]', '[web, nowhere]'),
      'c.yaml': other('c').replace('https://c.example.com', 'https://10.0.0.1'),
      'd.yaml': other('filed'),
    }
    const { code, out, err } = await apply(files)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err.trim().split('\n')).toEqual([
      expect.stringMatching(/^b\.yaml:1:\d+: sources\[1\]: no source has this id \(/),
      expect.stringMatching(/^c\.yaml:1:\d+: webhooks\[0\]\.url: .*10\.0\.0\.1/),
      'd.yaml:1:7: id: is defined in the configuration file of the services (remove the definition from the configuration file, then run the command again)',
    ])
    expect(installation.documents('destination')).toEqual({})
  })

  it('when a source to delete is in use', async () => {
    await installation.put('source', { id: 'app', writeKey: 'a write key of the app' })
    await installation.put('source', { id: 'old', writeKey: 'a write key of old' })
    await apply({ 'a.yaml': other('crm').replace('[web]', '[old]') })
    const { code, out, err } = await installation.run(['sources', 'apply', '-f', '-', '--prune'], {
      stdin: '{ id: app }',
    })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/^hookline: source old: .*is used by the destination crm/)
    expect(Object.keys(installation.documents('source'))).toEqual(['app', 'old'])
  })

  it.each([
    ['an empty directory', {}, []],
    ['an empty directory with --prune', {}, ['--prune']],
  ])('for %s', async (_name, files, options) => {
    await installation.put('destination', { id: 'crm', sources: ['web'], webhooks: [{ url: 'https://a.example' }] })
    const { code, err } = await apply(files, ...options)
    expect(code).toBe(2)
    expect(err).toMatch(
      /^hookline: --file: .* contains no destination; to delete a destination, run: hookline destinations delete <id>\n$/,
    )
    expect(Object.keys(installation.documents('destination'))).toEqual(['crm'])
  })

  it('without --file', async () => {
    expect(await installation.run(['destinations', 'apply'])).toMatchObject({
      ...{ code: 2, err: "hookline: required option '-f, --file <path>' not specified\n" },
    })
  })
})

describe('apply and a concurrent change', () => {
  /** Another writer pauses each destination after the command has checked all changes. */
  function pauseBeforeChange(...ids: readonly string[]): void {
    const { change } = installation.objects
    const left = new Set(ids)
    installation.objects.change = async request => {
      if (request.dryRun !== true && left.delete(request.id))
        await change({
          ...{ kind: 'destination', id: request.id, by: 'bob', expected: { kind: 'any' } },
          next: destination => ({ ...destination, paused: true }),
        })
      return change(request)
    }
  }

  it('never overwrites a change, and reports it', async () => {
    await apply({ 'a.yaml': other('a'), 'b.yaml': other('b') })
    pauseBeforeChange('b')
    const files = {
      'a.yaml': other('a').replace('[web]', '[server]'),
      'b.yaml': other('b').replace('[web]', '[server]'),
    }
    expect(await apply(files)).toEqual({
      code: 1,
      out: '~ destination a\n    sources: ["web"] → ["server"]\ndestinations: 1 changed\n',
      err: 'hookline: destination b was changed by another client of the operator API or by Hookline itself while the command ran; 1 of 2 changes were made; correct this problem, then run the command again; changes already made are kept\n',
    })
    expect(installation.documents('destination')['b']).toMatchObject({ sources: ['web'], paused: true })
    expect(await apply(files)).toMatchObject({ code: 0, out: expect.stringContaining('1 changed, 1 unchanged') })
    expect(installation.documents('destination')['b']).toMatchObject({ sources: ['server'], paused: true })
  })

  it('reports each of several changes that failed', async () => {
    const files = (source: string) => ({
      'a.yaml': other('a').replace('[web]', source),
      'b.yaml': other('b').replace('[web]', source),
    })
    await apply(files('[web]'))
    pauseBeforeChange('a', 'b')
    const changed = 'was changed by another client of the operator API or by Hookline itself while the command ran'
    expect(await apply(files('[server]'))).toMatchObject({
      code: 1,
      err: `hookline: destination a ${changed}; destination b ${changed}; 0 of 2 changes were made; correct these problems, then run the command again; changes already made are kept\n`,
    })
  })
})
