import dns, { type LookupAddress } from 'node:dns'
import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { createResolver, type NameSources, systemSources } from '../../../../src/adapters/webhook/dns-resolver.ts'
import { ManualClock, turns } from '../../../support/manual-clock.ts'

const failure = (code: string): Error => Object.assign(new Error(`query ${code}`), { code })
const v4 = (address: string): LookupAddress => ({ address, family: 4 })
const v6 = (address: string): LookupAddress => ({ address, family: 6 })

/**
 * The response of each source of addresses. A string is an error code. Undefined means that the
 * source never responds.
 */
interface Script {
  readonly hosts?: string
  readonly a?: readonly string[] | string
  readonly aaaa?: readonly string[] | string
  readonly system?: readonly LookupAddress[] | string
}

function answerWith<T>(answer: T | string | undefined): Promise<T> {
  if (answer === undefined) return new Promise(() => {})
  return typeof answer === 'string' ? Promise.reject(failure(answer)) : Promise.resolve(answer)
}

function resolverOf(initial: Script) {
  const clock = new ManualClock()
  const asked: string[] = []
  let script = initial
  const sources: NameSources = {
    hostsFile: async () => {
      asked.push('hosts')
      return script.hosts ?? ''
    },
    query(name, family) {
      asked.push(`${family === 4 ? 'a' : 'aaaa'} ${name}`)
      return answerWith(family === 4 ? script.a : script.aaaa)
    },
    system(name) {
      asked.push(`system ${name}`)
      return answerWith(script.system)
    },
    reload: async () => void asked.push('reload'),
    cancel: () => asked.push('cancel'),
  }
  const { resolve, close } = createResolver({ clock, sources })
  const set = (next: Script) => {
    script = next
  }
  return { clock, asked, resolve, close, set }
}

describe('where addresses come from', () => {
  const system = [v4('10.0.0.7')]
  it.each<[string, Script, addresses: string, host?: string]>([
    ['both families, v4 first', { a: ['192.0.2.1', '192.0.2.2'], aaaa: ['::1'] }, '192.0.2.1 192.0.2.2 ::1'],
    ['v4 only', { a: ['192.0.2.1'], aaaa: 'ENODATA' }, '192.0.2.1'],
    ['v6 only', { a: 'ENODATA', aaaa: ['2001:db8::1'] }, '2001:db8::1'],
    ['the hosts file first', { hosts: '192.0.2.9 crm.example.com\n', a: ['192.0.2.1'] }, '192.0.2.9'],
    ['case and a final dot do not matter', { hosts: '192.0.2.9 CRM.example.com' }, '192.0.2.9', 'Crm.Example.com.'],
    [
      'the hosts file: comments, aliases, tabs, both families',
      { hosts: '# 1.1.1.1 crm.test\n192.0.2.9\tx crm.test # y\n2001:db8::9 crm.test\n192.0.2.8 crm.test.x' },
      '192.0.2.9 2001:db8::9',
      'crm.test',
    ],
    ['the operating system for a name without a dot', { system, a: ['192.0.2.1'] }, '10.0.0.7', 'receiver'],
    ['the operating system for a name the DNS lacks', { a: 'ENOTFOUND', aaaa: 'ENOTFOUND', system }, '10.0.0.7'],
    ['the operating system without a name server', { a: 'ECONNREFUSED', aaaa: 'ECONNREFUSED', system }, '10.0.0.7'],
  ])('%s', async (_name, script, addresses, host = 'crm.example.com') => {
    const expected = addresses.split(' ').map(each => (each.includes(':') ? v6(each) : v4(each)))
    expect(await resolverOf(script).resolve(host)).toEqual(expected)
  })

  const manyV4 = Array.from({ length: 1_000 }, (_, index) => `192.0.${index >> 8}.${index & 255}`)
  const manyV6 = Array.from({ length: 4_000 }, (_, index) => `2001:db8::${index.toString(16)}`)
  const first = { a: manyV4.slice(0, 16).map(v4), aaaa: manyV6.slice(0, 16).map(v6) }
  it.each<[string, Script, readonly LookupAddress[]]>([
    ['the name servers', { a: manyV4, aaaa: manyV6 }, [...first.a, ...first.aaaa]],
    [
      'the operating system',
      { a: 'ENOTFOUND', aaaa: 'ENOTFOUND', system: [...manyV6.map(v6), ...manyV4.map(v4)] },
      [...first.aaaa, ...first.a],
    ],
  ])('at most 16 addresses of each family, from %s', async (_name, script, expected) => {
    expect(await resolverOf(script).resolve('crm.example.com')).toEqual(expected)
  })

  it.each(['localhost', 'LOCALHOST.', 'app.localhost'])(
    '%s resolves to both loopback addresses without a query',
    async name => {
      const { resolve, asked } = resolverOf({})
      expect(await resolve(name)).toEqual([v4('127.0.0.1'), v6('::1')])
      expect(asked).toEqual([])
    },
  )

  it.each(['invalid', 'crm.invalid', 'crm.INVALID.'])('%s is not found, without a query', async name => {
    const { resolve, asked } = resolverOf({})
    await expect(resolve(name)).rejects.toMatchObject({ code: 'ENOTFOUND' })
    expect(asked).toEqual([])
  })
})

describe('the host `.`', () => {
  const script = { hosts: '192.0.2.9 crm.example.com', system: [] }

  it.each(['.', ''])('is not found, without a query: %j', async host => {
    const { resolve, asked } = resolverOf(script)
    await expect(resolve(host)).rejects.toMatchObject({ code: 'ENOTFOUND' })
    expect(asked).toEqual([])
  })

  it('does not fail other names', async () => {
    const { resolve } = resolverOf(script)
    await resolve('.').catch(() => undefined)
    expect(await resolve('crm.example.com')).toEqual([v4('192.0.2.9')])
  })
})

describe('a name server that does not answer', () => {
  it.each([
    ['ETIMEOUT', 'ETIMEOUT', 'ETIMEOUT'],
    ['ESERVFAIL', 'ESERVFAIL', 'ESERVFAIL'],
    ['ENODATA', 'ETIMEOUT', 'ETIMEOUT'],
    ['ECANCELLED', 'ENOTFOUND', 'ECANCELLED'],
  ])('does not fall back to getaddrinfo: A %s, AAAA %s', async (a, aaaa, code) => {
    const { resolve, asked } = resolverOf({ a, aaaa, system: [v4('192.0.2.1')] })
    await expect(resolve('crm.example.com')).rejects.toMatchObject({ code })
    expect(asked).not.toContain('system crm.example.com')
  })

  it('does not delay other names', async () => {
    const { resolve, set } = resolverOf({})
    let isOver = false
    void resolve('slow.example.com').then(() => {
      isOver = true
    })
    await turns()
    set({ a: ['192.0.2.1'], aaaa: 'ENODATA' })
    expect(await resolve('crm.example.com')).toEqual([v4('192.0.2.1')])
    expect(isOver).toBe(false)
  })

  it.each<[string, Script, readonly LookupAddress[]]>([
    ['AAAA', { a: ['192.0.2.1'] }, [v4('192.0.2.1')]],
    ['A', { aaaa: ['2001:db8::1'] }, [v6('2001:db8::1')]],
  ])('for %s delays the other family by only 50 ms', async (_name, script, addresses) => {
    const { resolve, clock } = resolverOf(script)
    let found: unknown
    void resolve('crm.example.com').then(answer => {
      found = answer
    })
    await clock.advance(49, turns)
    expect(found).toBeUndefined()
    await clock.advance(1, turns)
    expect(found).toEqual(addresses)
    expect(clock.timers).toBe(0)
  })

  it('leaves no timer when both families are resolved', async () => {
    const { resolve, clock } = resolverOf({ a: ['192.0.2.1'], aaaa: ['2001:db8::1'] })
    await resolve('crm.example.com')
    expect(clock.timers).toBe(0)
  })
})

describe('a change of the name servers', () => {
  afterEach(() => {
    jest.restoreAllMocks()
  })

  it('is looked for after a failed query, at most every 5 s', async () => {
    const { resolve, asked, clock } = resolverOf({ a: 'ETIMEOUT', aaaa: 'ETIMEOUT' })
    const reloads = () => asked.filter(each => each === 'reload').length
    const fail = () => expect(resolve('crm.example.com')).rejects.toMatchObject({ code: 'ETIMEOUT' })
    await fail()
    await fail()
    expect(reloads()).toBe(1)
    await clock.advance(5_000)
    await fail()
    expect(reloads()).toBe(2)
  })

  it('is not looked for after a query with a result', async () => {
    const { resolve, asked } = resolverOf({ a: ['192.0.2.1'], aaaa: 'ETIMEOUT' })
    await resolve('crm.example.com')
    expect(asked).not.toContain('reload')
  })

  it('is taken from /etc/resolv.conf, and cancel also ends the queries to the old ones', async () => {
    const { prototype } = dns.promises.Resolver
    const query = jest.spyOn(prototype, 'resolve4').mockImplementation(async () => [])
    const cancel = jest.spyOn(prototype, 'cancel')
    let file: string | undefined
    const sources = systemSources(async path => {
      if (path !== '/etc/resolv.conf' || file === undefined) throw failure('ENOENT')
      return file
    })
    const resolverOfQuery = async () => {
      await sources.query('crm.example.com', 4)
      return query.mock.contexts.at(-1)
    }
    /**
     * Reloads `/etc/resolv.conf` with this text; without a text, the reload fails. Returns the
     * resolver of the next query.
     */
    const resolverAfter = async (text: string | undefined) => {
      file = text
      await sources.reload()
      return resolverOfQuery()
    }
    const first = await resolverOfQuery()
    const old = await resolverAfter('nameserver 192.0.2.1')
    expect(await resolverAfter('nameserver 192.0.2.1')).toBe(old)
    expect(await resolverAfter(undefined)).toBe(old)
    const current = await resolverAfter('nameserver 192.0.2.2')
    expect(current).not.toBe(old)
    sources.cancel()
    for (const each of [first, old, current]) expect(cancel.mock.contexts).toContain(each)
  })
})

describe('caching', () => {
  const script = { a: ['192.0.2.1'], aaaa: 'ENODATA' }

  it('keeps a result for 5 s, and sends one query for concurrent lookups', async () => {
    const { resolve, asked, clock, set } = resolverOf(script)
    await Promise.all(Array.from({ length: 50 }, () => resolve('crm.example.com')))
    await clock.advance(4_999)
    await resolve('crm.example.com')
    expect(asked).toEqual(['hosts', 'a crm.example.com', 'aaaa crm.example.com'])

    await clock.advance(1)
    set({ a: ['192.0.2.2'], aaaa: 'ENODATA' })
    expect(await resolve('crm.example.com')).toEqual([v4('192.0.2.2')])
    expect(asked).toHaveLength(6)
  })

  it('does not keep failures', async () => {
    const { resolve, set } = resolverOf({ a: 'ESERVFAIL', aaaa: 'ESERVFAIL' })
    await expect(resolve('crm.example.com')).rejects.toThrow('query ESERVFAIL')
    set(script)
    expect(await resolve('crm.example.com')).toEqual([v4('192.0.2.1')])
  })

  it('close cancels queries in progress', () => {
    const { close, asked } = resolverOf({})
    close()
    expect(asked).toEqual(['cancel'])
  })
})
