import { beforeEach, describe, expect, it } from '@jest/globals'
import { closingAfterEach } from '../../../../support/cleanup.ts'
import { objectsCommand } from '../../../../support/operator/run-operator-api-commands.ts'

const closing = closingAfterEach()
let installation: Awaited<ReturnType<typeof objectsCommand>>
beforeEach(async () => {
  installation = closing(await objectsCommand())
  const webhooks = [{ url: 'https://crm.example.com/hooks', headers: { Authorization: 'Bearer a-token' } }]
  await installation.put('destination', { id: 'crm', sources: ['web', 'server'], sharedSecret: 'a secret', webhooks })
})

const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`

describe('list', () => {
  it('shows the destinations of the file and of the API', async () => {
    const { code, out, err } = await installation.run(['destinations', 'list'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out.replaceAll(new RegExp(time, 'g'), 'T'.repeat(24))).toBe(
      `ID       STATE    ORIGIN  VERSION  SOURCES      CHANGED AT                CHANGED BY
crm      enabled  api     1        web, server  TTTTTTTTTTTTTTTTTTTTTTTT  bob
filed    enabled  file    -        web          -                         -
waiting  paused   file    -        server       -                         -
`,
    )
  })

  it.each<[string, readonly string[], readonly string[]]>([
    ['--state', ['--state', 'paused'], ['waiting']],
    ['--source', ['--source', 'web'], ['crm', 'filed']],
    ['--search', ['--search', 'RM.EX'], ['crm']],
  ])('filters by %s', async (_name, options, ids) => {
    const { out } = await installation.run(['destinations', 'list', '--json', ...options])
    expect(JSON.parse(out).destinations.map(({ id }: { id: string }) => id)).toEqual(ids)
  })

  it('reads all pages', async () => {
    for (let number = 0; number < 501; number++)
      await installation.put('source', { id: `s${number}`, writeKey: `a write key of source ${number}` })
    const { out } = await installation.run(['sources', 'list', '--json'])
    expect(JSON.parse(out).sources).toHaveLength(503)
  })

  it('says that nothing is found', async () => {
    expect(await installation.run(['sources', 'list', '--search', 'x'])).toEqual({
      ...{ code: 0, out: '', err: 'hookline: no sources found\n' },
    })
  })

  it('shows sources', async () => {
    const { out } = await installation.run(['sources', 'list'])
    expect(out).toBe(`ID      STATE    ORIGIN  VERSION  CHANGED AT  CHANGED BY
server  enabled  file    -        -           -
web     enabled  file    -        -           -
`)
  })
})

describe('show', () => {
  it('prints YAML without secrets, below a comment', async () => {
    const { code, out, err } = await installation.run(['destinations', 'show', 'crm'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out.replace(new RegExp(time), 'TIME')).toBe(`# destination crm: enabled, version 1, changed at TIME by bob
id: crm
sources:
  - web
  - server
sharedSecret: "***"
webhooks:
  - url: https://crm.example.com/***
    headers:
      Authorization: "***"
`)
  })

  it('names the origin of an object of the file', async () => {
    const { out } = await installation.run(['destinations', 'show', 'filed'])
    expect(out).toMatch(/^# destination filed: enabled, defined in the configuration file\nid: filed\n/)
  })

  it('prints the answer of the API as JSON', async () => {
    const { out } = await installation.run(['sources', 'show', 'web', '--json'])
    expect(JSON.parse(out)).toMatchObject({ id: 'web', origin: 'file', document: { id: 'web', writeKey: '***' } })
  })

  it('fails for an unknown id', async () => {
    expect(await installation.run(['destinations', 'show', 'cmr'])).toEqual({
      ...{ code: 1, out: '', err: 'hookline: no destination has the id cmr; see: hookline destinations list\n' },
    })
  })
})
