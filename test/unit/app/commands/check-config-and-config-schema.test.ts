import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { configFolder } from '../../../support/config/config-folder.ts'
import { runCommand } from '../../../support/process/in-process-command.ts'

const good = `kafka: { brokers: [a:9092] }
registry: { url: http://registry:8081 }
sources: [{ id: web, writeKey: "\${KEY:-a-long-write-key}" }]
destinations:
  - { id: crm, sources: [web], webhooks: [{ url: https://a.example }, { url: http://b.example }] }
`
const bad = good.replace('crm, sources', 'crm, paused: 1, sorces')

async function check(config: string, argv: readonly string[] = []) {
  const path = join(await configFolder({ 'hookline.yaml': config }), 'hookline.yaml')
  const { code, out, err } = await runCommand(['check-config', '--config', path, ...argv])
  return { path, code, out: out.replaceAll(path, 'FILE'), err: err.replaceAll(path, 'FILE') }
}

describe('hookline check-config', () => {
  it('prints counts and warnings', async () => {
    expect(await check(good)).toMatchObject({
      code: 0,
      out: [
        'FILE is valid: 1 source, 1 destination, 2 webhooks',
        'warning: destination crm: requests are unsigned and sent over http:// (webhook 1), so receivers cannot verify the sender; set sharedSecret',
        '',
      ].join('\n'),
      err: '',
    })
  })

  it('prints counts and warnings as JSON', async () => {
    const { code, out } = await check(good, ['--json'])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual({
      ok: true,
      ...{ sources: 1, destinations: 1, webhooks: 2 },
      warnings: [
        'destination crm: requests are unsigned and sent over http:// (webhook 1), so receivers cannot verify the sender; set sharedSecret',
      ],
      files: ['FILE'],
    })
  })

  it.each([[[]], [['--json']]])('names a bad file of destinationsFrom, beside a good one: %j', async argv => {
    const folder = await configFolder({
      'hookline.yaml': `${good}destinationsFrom: more\n`,
      'more/bad.yaml': 'id: bad\nsources: [web]\nwebhooks: [{ url: "ftp://a.example" }]\n',
      'more/good.yaml': 'id: good\nsources: [web]\nwebhooks: [{ url: "https://a.example" }]\n',
    })
    const { code, out, err } = await runCommand(['check-config', '--config', join(folder, 'hookline.yaml'), ...argv])
    expect(code).toBe(2)
    expect(err.replaceAll(`${folder}/`, '')).toMatch(/^[^\n]*more\/bad\.yaml:3:\d+[^\n]*webhooks\[0\]\.url[^\n]*\n$/)
    if (argv.length === 0) expect(out).toBe('')
    else expect(JSON.parse(out)).toMatchObject({ ok: false, problems: [{ path: 'webhooks[0].url' }] })
  })

  it('checks all referenced files, or with --services only those of these services', async () => {
    const config = good.replace(/writeKey: .*/, 'writeKeyFile: absent }]')
    expect(await check(config)).toMatchObject({ code: 2, err: expect.stringContaining('sources[0].writeKeyFile') })
    expect(await check(config, ['--services', 'collector'])).toMatchObject({ code: 2 })
    expect(await check(config, ['--services', 'dispatcher,audiences'])).toMatchObject({ code: 0, err: '' })
  })

  it.each(['deploy/local/hookline.yaml', 'deploy/compose/hookline/hookline.yaml'])(
    'accepts the example configuration %s without warnings',
    async path => {
      const { code, out } = await runCommand(['check-config', '--json', '--config', path])
      expect([code, JSON.parse(out).warnings]).toEqual([0, []])
    },
  )

  const lines = [
    'FILE:5:5: destinations[0].sources: is missing (ids of the sources whose messages the destination receives)',
    'FILE:5:24: destinations[0].paused: must be true or false, not a number (`true`: Hookline sends no requests, and the events wait. Events that still wait at the end of their retry window are dead-lettered)',
    'FILE:5:27: destinations[0].sorces: unknown key (did you mean sources?)',
    '',
  ]
  it('prints every problem on stderr and exits with 2', async () => {
    expect(await check(bad)).toMatchObject({ code: 2, out: '', err: lines.join('\n') })
  })

  it('prints problems as JSON', async () => {
    const { code, out, err } = await check(bad, ['--json'])
    expect(code).toBe(2)
    expect(err).toBe(lines.join('\n'))
    const { ok, problems } = JSON.parse(out)
    expect(ok).toBe(false)
    expect(problems).toHaveLength(3)
    expect(problems[2]).toEqual({
      ...{ file: 'FILE', line: 5, column: 27, path: 'destinations[0].sorces' },
      ...{ message: 'unknown key', hint: 'did you mean sources?' },
    })
  })

  it('prints one line per problem and does not repeat an unknown key', async () => {
    const { code, err } = await check(`${good}"\\e[2J\\nx": 1\n`)
    expect(code).toBe(2)
    expect(err).toMatch(/^FILE:6:1: \*\*\*: unknown key \(possible: .*\)\n$/)
  })

  it('reads the path from HOOKLINE_CONFIG and variables of the file from the environment', async () => {
    const path = join(await configFolder({ 'hookline.yaml': good.replace(':-a-long-write-key', '') }), 'hookline.yaml')
    expect(await runCommand(['check-config'], { env: { HOOKLINE_CONFIG: path, KEY: 'k' } })).toMatchObject({ code: 0 })
    expect(await runCommand(['check-config'], { env: { HOOKLINE_CONFIG: path } })).toMatchObject({
      code: 2,
      err: expect.stringContaining(':3:32: sources[0].writeKey: the environment variable KEY is not set'),
    })
  })
})

describe('hookline config-schema', () => {
  it('prints the JSON Schema', async () => {
    const { code, out } = await runCommand(['config-schema'])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      title: 'Hookline configuration',
      type: 'object',
      additionalProperties: false,
    })
  })
})
