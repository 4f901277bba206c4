import type { LookupAddress } from 'node:dns'
import { describe, expect, it } from '@jest/globals'
import { classify } from '../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import { answer, answering } from '../../support/webhook/scripted-tcp-server.ts'
import {
  adapters,
  answered,
  caller,
  callInProcess,
  loopbackOnly,
  receiver,
  scriptedResolver,
} from './tested-transports-and-servers.ts'

const ok = answering(answer(200))
const nothingAllowed = { ...loopbackOnly, allow: [] }
const v4 = (address: string): LookupAddress => ({ address, family: 4 })
const v6 = (address: string): LookupAddress => ({ address, family: 6 })

describe.each(adapters)('%s: addresses', (_, create) => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['2130706433', '127.0.0.1'],
    ['0x7f.1', '127.0.0.1'],
    ['0177.0.0.1', '127.0.0.1'],
    ['127.0.0.1.', '127.0.0.1'],
    ['[::1]', '::1'],
    ['[::ffff:127.0.0.1]', '::ffff:7f00:1'],
    ['[64:ff9b::7f00:1]', '64:ff9b::7f00:1'],
    ['[::127.0.0.1]', '::7f00:1'],
    ['0.0.0.0', '0.0.0.0'],
    ['[::]', '::'],
    ['10.1.2.3', '10.1.2.3'],
    ['169.254.169.254', '169.254.169.254'],
  ])('a forbidden IP address is refused without a connection: %s', async (host, address) => {
    const target = await receiver(ok)
    const { post, ends } = caller(create, { network: nothingAllowed })
    const result = await post(target.url('/hook?token=hush', host), { Authorization: 'hush' })
    expect(result).toMatchObject({ kind: 'failed', phase: 'address', code: 'ERR_FORBIDDEN_ADDRESS' })
    expect((result as { detail: string }).detail).toContain(`address ${address} is not allowed (`)
    expect((result as { detail: string }).detail).toContain('network.allow')
    expect(JSON.stringify(result)).not.toContain('hush')
    expect(classify(result)).toBe('blocked_address')
    expect(ends).toEqual([[result]])
    expect(target.connections()).toBe(0)
  })

  it('a request to an allowed IP address is sent', async () => {
    const target = await receiver(ok)
    expect(await caller(create).post(target.url('/', '[::ffff:127.0.0.1]'))).toEqual(answered(200))
  })

  it.each([
    ['a private address', [v4('192.168.0.7')], '192.168.0.7'],
    ['a private address after public ones', [v4('93.184.215.14'), v4('93.184.215.15'), v4('10.0.0.1')], '10.0.0.1'],
    ['a public v4 and a private v6 address', [v4('93.184.215.14'), v6('fd12::1')], 'fd12::1'],
    ['a mapped address', [v6('::ffff:10.0.0.1')], '::ffff:10.0.0.1'],
    ['an allowed and a forbidden address', [v4('127.0.0.1'), v4('10.0.0.1')], '10.0.0.1'],
    ['a metadata address', [v4('169.254.169.254')], '169.254.169.254'],
    ['an address with a zone', [v6('fe80::1%lo')], 'fe80::1%lo'],
  ])('a host name with %s is refused', async (_name, addresses, culprit) => {
    const { resolver } = scriptedResolver(() => addresses)
    const target = await receiver(ok)
    const result = await caller(create, { resolver }).post(target.url('/', 'crm.example.com'))
    expect(result).toMatchObject({ kind: 'failed', phase: 'address', code: 'ERR_FORBIDDEN_ADDRESS' })
    expect((result as { detail: string }).detail).toMatch(`crm.example.com: address ${culprit} is not allowed`)
    expect(target.connections()).toBe(0)
  })

  it('a metadata address stays forbidden when everything is allowed', async () => {
    const network = { ...loopbackOnly, allow: ['0.0.0.0/0', '::/0'] }
    const { resolver } = scriptedResolver(() => [v4('169.254.169.254')])
    const { post } = caller(create, { network, resolver })
    for (const url of ['http://169.254.169.254/', 'http://[::ffff:169.254.169.254]/', 'http://meta.example.com/']) {
      const result = await post(url)
      expect(result).toMatchObject({ kind: 'failed', phase: 'address' })
      expect((result as { detail: string }).detail).toContain('network.allow cannot permit this one')
    }
  })

  it('connects to the address that was checked, also when the name changes immediately (DNS rebinding)', async () => {
    const target = await receiver(ok)
    const answers = [[v4('127.0.0.1')], [v4('10.0.0.1')]]
    const { resolver, asked } = scriptedResolver(() => answers.shift() ?? [])
    expect(await caller(create, { resolver }).post(target.url('/', 'rebind.example.com'))).toEqual(answered(200))
    expect(asked).toEqual(['rebind.example.com'])
  })

  it('finds, among several allowed addresses, the address that accepts connections', async () => {
    const target = await receiver(ok)
    const { resolver } = scriptedResolver(() => [v6('::1'), v4('127.0.0.2'), v4('127.0.0.1')])
    expect(await caller(create, { resolver }).post(target.url('/', 'crm.example.com'))).toEqual(answered(200))
  })

  it('localhost has addresses of both families', async () => {
    const target = await receiver(ok)
    expect(await caller(create).post(target.url('/', 'localhost'))).toEqual(answered(200))
    const network = { ...loopbackOnly, allow: ['127.0.0.0/8'] }
    const result = await caller(create, { network }).post(target.url('/', 'localhost'))
    expect(result).toMatchObject({
      phase: 'address',
      detail: expect.stringContaining('localhost: address ::1 is not allowed'),
    })
  })
})

describe.each(adapters)('%s: names and ports', (name, create) => {
  it.each([
    ['ENOTFOUND', 'dns'],
    ['ESERVFAIL', 'dns'],
    ['ETIMEOUT', 'dns'],
  ])('a host name that is not resolved: %s', async (code, outcome) => {
    const { resolver } = scriptedResolver(() => Promise.reject(Object.assign(new Error(`queryA ${code}`), { code })))
    const result = await caller(create, { resolver }).post('http://crm.invalid.example/')
    expect(result).toMatchObject({ kind: 'failed', phase: 'dns' })
    expect(classify(result)).toBe(outcome)
  })

  it('.invalid is never found', async () => {
    expect(await caller(create).post('http://crm.invalid/')).toEqual({
      kind: 'failed',
      phase: 'dns',
      code: 'ENOTFOUND',
      detail: 'host name crm.invalid could not be resolved: crm.invalid ENOTFOUND',
    })
  })

  it('the host `.` is never found, and does not fail other names', async () => {
    const target = await receiver(ok)
    const { resolver } = scriptedResolver(host => (host === 'crm.example.com' ? [v4('127.0.0.1')] : []))
    const { post } = caller(create, { resolver })
    for (const host of ['.', '%2e', '。'])
      expect(await post(target.url('/', host))).toMatchObject({ kind: 'failed', phase: 'dns', code: 'ENOTFOUND' })
    expect(await post(target.url('/', 'crm.example.com'))).toEqual(answered(200))
  })

  it.each([
    ['below 1024', undefined, 25, '80, 443 and any port from 1024'],
    ['not in network.ports', [443, 8443], 8080, '443, 8443'],
  ])('a port %s is not allowed', async (_name, ports, port, open) => {
    expect(await caller(create, { network: { ...loopbackOnly, ports } }).post(`http://127.0.0.1:${port}/`)).toEqual({
      kind: 'failed',
      phase: 'address',
      code: 'ERR_FORBIDDEN_PORT',
      detail: `port ${port} is not allowed (allowed: ${open}; see network.ports)`,
    })
  })

  it.each([
    ['http://127.0.0.1/', 80],
    ['https://127.0.0.1/', 443],
  ])('the port of %s is the default of its scheme', async (url, port) => {
    const { post } = caller(create, { network: { ...loopbackOnly, ports: [9] } })
    expect(await post(url)).toMatchObject({
      phase: 'address',
      detail: expect.stringContaining(`port ${port} is not allowed`),
    })
  })

  it('proxy settings in the environment are ignored', async () => {
    const proxy = await receiver(ok)
    const target = await receiver(answering(answer(202)))
    const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy']
    const env = {
      ...Object.fromEntries(names.map(variable => [variable, proxy.url('')])),
      NODE_USE_ENV_PROXY: '1',
      NO_PROXY: '',
    }
    const { results } = await callInProcess(name, [`${target.url()} 10000`], env)
    expect(results).toEqual([[answered(202), answered(202)]])
    expect(proxy.connections()).toBe(0)
  })
})
