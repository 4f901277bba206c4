import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { formatProblem } from '../../../../src/adapters/config-file/config-file.ts'
import { readObjectFiles } from '../../../../src/adapters/config-file/read-files-to-apply.ts'
import type { ObjectKind } from '../../../../src/core/config-objects/config-objects.ts'
import { configFolder } from '../../../support/config/config-folder.ts'
import { createAuthority } from '../../../support/network/certificates.ts'

interface Given {
  readonly files?: Readonly<Record<string, string>>
  readonly path?: string
  readonly kind?: ObjectKind
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
}

async function read({ files = {}, path = '.', kind = 'destination', env = {}, stdin = '' }: Given) {
  const folder = await configFolder(files)
  const from = path === '-' ? '-' : join(folder, path)
  return { folder, result: await readObjectFiles({ kind, path: from, env, stdin: async () => stdin }) }
}

async function documents(given: Given): Promise<readonly unknown[]> {
  const { result } = await read(given)
  if (result.kind === 'refused') throw new Error(result.problems.map(formatProblem).join('\n'))
  return result.objects.map(({ document }) => document)
}

async function problems(given: Given): Promise<readonly string[]> {
  const { result, folder } = await read(given)
  if (result.kind === 'read') throw new Error('the files are accepted')
  return result.problems.map(formatProblem).map(line => line.replaceAll(`${folder}/`, ''))
}

const minimal = (id: string): string => `{ id: ${id}, sources: [web], webhooks: [{ url: "https://${id}.example" }] }`
const object = (id: string): object => ({ id, sources: ['web'], webhooks: [{ url: `https://${id}.example` }] })

describe('readObjectFiles', () => {
  it.each<[string, Given, readonly string[]]>([
    ['one object', { files: { 'a.yaml': minimal('a') }, path: 'a.yaml' }, ['a']],
    [
      'several documents',
      { files: { 'a.yaml': `---\n${minimal('a')}\n---\n${minimal('b')}\n---\n` }, path: 'a.yaml' },
      ['a', 'b'],
    ],
    ['a list', { files: { 'a.yaml': `- ${minimal('a')}\n- ${minimal('b')}\n` }, path: 'a.yaml' }, ['a', 'b']],
    ['a JSON array', { files: { 'a.json': JSON.stringify([object('a'), object('b')]) }, path: 'a.json' }, ['a', 'b']],
    ['stdin', { path: '-', stdin: minimal('a') }, ['a']],
    ['only comments', { files: { 'a.yaml': '# later\n' }, path: 'a.yaml' }, []],
    ['an empty directory of sources', { kind: 'source', files: {} }, []],
    [
      'the files of a directory in the order of their names, without hidden and other files',
      {
        files: {
          'b.yml': minimal('b'),
          'a.yaml': minimal('a'),
          'c.json': JSON.stringify(object('c')),
          '.d.yaml': '[',
          'e.md': '[',
        },
      },
      ['a', 'b', 'c'],
    ],
  ])('reads %s', async (_name, given, ids) => {
    expect(await documents(given)).toEqual(ids.map(object))
  })

  it('replaces the names of certificates and private keys', async () => {
    const { cert, key } = createAuthority().issue()
    const signingKey = `whsk_${Buffer.alloc(32, 1).toString('base64')}`
    const yaml = `
id: bank
sources: [web]
signingKeyFile: secrets/ed25519
auth:
  oauth2: { tokenUrl: "https://login.example/token", clientId: hookline, clientSecretFile: secrets/client }
tls: { clientCertFile: pki/client.pem, clientKeyFile: pki/client.key, caFile: pki/client.pem }
webhooks: [{ url: https://bank.example }]`
    const files = {
      ...{ 'bank.yaml': yaml, 'pki/client.pem': cert, 'pki/client.key': key },
      ...{ 'secrets/ed25519': `${signingKey}\n`, 'secrets/client': 'client-secret\n' },
    }
    const lines = (text: string): string => text.replace(/\r?\n$/, '')
    expect(await documents({ files })).toEqual([
      {
        ...{ id: 'bank', sources: ['web'], signingKey, webhooks: [{ url: 'https://bank.example' }] },
        auth: {
          oauth2: { tokenUrl: 'https://login.example/token', clientId: 'hookline', clientSecret: 'client-secret' },
        },
        tls: { clientCert: lines(cert), clientKey: lines(key), ca: lines(cert) },
      },
    ])
    const other = createAuthority().issue().key
    expect(await problems({ files: { ...files, 'pki/client.key': other } })).toEqual([
      expect.stringMatching(/tls\.clientKeyFile: is not the key of the certificate in clientCertFile/),
    ])
  })

  it('replaces environment variables and the names of files', async () => {
    const yaml = `
id: crm
paused: \${PAUSED}
sources: [web]
sharedSecretFile: [secrets/new, secrets/old]
webhooks:
  - url: \${URL:-https://crm.example}
    headers: { Authorization: { file: secrets/token }, X-A: b }
  - urlFile: secrets/url`
    const files = {
      'crm.yaml': yaml,
      'secrets/new': 'n\n',
      'secrets/old': 'o\n',
      'secrets/token': 'Bearer t\n',
      'secrets/url': 'https://url.example/x\n',
    }
    expect(await documents({ files, path: 'crm.yaml', env: { PAUSED: 'true' } })).toEqual([
      {
        id: 'crm',
        paused: true,
        sources: ['web'],
        sharedSecret: ['n', 'o'],
        webhooks: [
          { url: 'https://crm.example', headers: { Authorization: 'Bearer t', 'X-A': 'b' } },
          { url: 'https://url.example/x' },
        ],
      },
    ])
  })

  it('keeps every mask, with or without a fingerprint, that stands for a stored secret', async () => {
    const webhooks = [
      { url: 'https://h.example/*** (5d41402a)', headers: { 'X-Key': '*** (5d41402a)' } },
      { url: 'https://h.example/***' },
      { url: '***' },
    ]
    const auth = { oauth2: { tokenUrl: 'https://h.example/token', clientId: 'hookline', clientSecret: '***' } }
    const masked = {
      ...{ id: 'crm', sources: ['web'], sharedSecret: ['*** (5d41402a)', '***'], signingKey: '*** (5d41402a)' },
      ...{ auth, webhooks },
    }
    expect(await documents({ files: { 'crm.json': JSON.stringify(masked) } })).toEqual([masked])
    const source = { id: 'app', writeKey: ['*** (5d41402a)', '*** (5d41402b)'] }
    expect(await documents({ kind: 'source', files: { 'app.json': JSON.stringify(source) } })).toEqual([source])
    const wrong = { ...masked, id: '***', sources: ['***'], signingKey: 'wrong' }
    expect(await problems({ files: { 'crm.json': JSON.stringify(wrong) } })).toHaveLength(3)
  })

  it('converts variables to the types of their keys, in every object of several files', async () => {
    const paused = (id: string): string =>
      `{ id: ${id}, paused: "\${${id.toUpperCase()}}", sources: [web], webhooks: [{ url: "https://${id}.example" }] }`
    const files = {
      '1.yaml': `- ${paused('a')}\n- ${paused('b')}\n`,
      '2.yaml': `${paused('c')}\n---\n${paused('d')}\n`,
    }
    const env = { A: 'true', B: 'false', C: 'true', D: 'false' }
    expect(await documents({ files, env })).toMatchObject([true, false, true, false].map(value => ({ paused: value })))
  })

  it('reads sources, with write keys from files, and without a write key', async () => {
    const files = { 's.yaml': '- { id: web, writeKeyFile: k }\n- { id: app }\n', k: 'key\n' }
    expect(await documents({ kind: 'source', files, path: 's.yaml' })).toEqual([
      { id: 'web', writeKey: 'key' },
      { id: 'app' },
    ])
  })

  it.each<[string, Given, readonly unknown[]]>([
    ['a missing file', { path: 'no.yaml' }, ['no.yaml:1:1: the file: does not exist (create it, or correct its name)']],
    [
      'an unknown key',
      { files: { 'a.yaml': minimal('a').replace('sources', 'source') } },
      [
        expect.stringContaining('a.yaml:1:1: sources: is missing ('),
        'a.yaml:1:10: source: unknown key (did you mean sources?)',
      ],
    ],
    [
      'the second document, and the third that is not YAML',
      { files: { 'a.yaml': `${minimal('a')}\n---\n${minimal('b').replace('web', '')}\n---\na: [` } },
      [
        expect.stringMatching(/^a\.yaml:3:\d+: sources: must have at least one entry /),
        expect.stringMatching(/^a\.yaml:5:\d+: .*is not valid YAML: /),
      ],
    ],
    [
      'an entry of a list',
      { files: { 'a.yaml': `- ${minimal('a')}\n- { id: b, sources: [web] }\n` } },
      [expect.stringMatching(/^a\.yaml:2:3: \[1\]\.webhooks: is missing /)],
    ],
    [
      'the same id twice',
      { files: { 'a.yaml': minimal('a'), 'b.yaml': minimal('a') } },
      ['b.yaml:1:7: id: is also the id of another destination (see a.yaml:1:7)'],
    ],
    [
      'a variable that is not set, once',
      { files: { 'a.yaml': minimal('a').replace('[web]', `["\${SOURCE}"]`) } },
      [
        `a.yaml:1:20: sources[0]: the environment variable SOURCE is not set (set the variable, or give a default: \${SOURCE:-default})`,
      ],
    ],
    [
      'a secret file that does not exist',
      { files: { 'a.yaml': minimal('a').replace('id: a', 'id: a, sharedSecretFile: x') } },
      [
        'a.yaml:1:28: sharedSecretFile: names a file that does not exist (create it, or correct its name: names are relative to the directory of the file with this error)',
      ],
    ],
    [
      'a secret as text and as a file',
      { files: { 'a.yaml': minimal('a').replace('id: a', 'id: a, sharedSecret: s, sharedSecretFile: x'), x: 'x' } },
      ['a.yaml:1:27: sharedSecretFile: cannot be combined with "sharedSecret" (remove one of them)'],
    ],
    [
      'a forbidden header',
      { files: { 'a.yaml': minimal('a').replace('.example"', '.example", headers: { Host: x }') } },
      [expect.stringContaining('webhooks[0].headers')],
    ],
    [
      'a text',
      { files: { 'a.yaml': 'crm' } },
      [expect.stringMatching(/^a\.yaml:1:1: the file: must be a mapping, not text /)],
    ],
  ])('refuses %s', async (_name, given, lines) => {
    expect(await problems(given)).toEqual(lines)
  })

  it('locates a problem that the operator service reports', async () => {
    const files = { 'a.yaml': `- ${minimal('a')}\n- ${minimal('b')}\n` }
    const { result } = await read({ files, path: 'a.yaml' })
    if (result.kind === 'refused') throw new Error('refused')
    const problem = { path: ['sources', 0], message: 'no source has this id', hint: 'x' }
    expect(result.objects[1]!.locate(problem)).toMatchObject({ line: 2, column: 22, pathInFile: [1, 'sources', 0] })
  })
})
