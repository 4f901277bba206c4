import { describe, expect, it } from '@jest/globals'
import {
  classifyAddress,
  explainForbidden,
  literalAddress,
  parseAllow,
  parseCidr,
  portAllowed,
} from '../../../../src/core/network/allowed-addresses.ts'

const kindOf = (ip: string, allow: readonly string[] = []) => classifyAddress(ip, parseAllow(allow)).kind

/** The first and the last address of each range. `outside` has its public neighbours. */
const edges: readonly (readonly [range: string, first: string, last: string, outside: readonly string[]])[] = [
  ['"this network", 0.0.0.0/8', '0.0.0.0', '0.255.255.255', ['1.0.0.0']],
  ['private, 10.0.0.0/8', '10.0.0.0', '10.255.255.255', ['9.255.255.255', '11.0.0.0']],
  ['carrier-grade NAT, 100.64.0.0/10', '100.64.0.0', '100.127.255.255', ['100.63.255.255', '100.128.0.0']],
  ['loopback, 127.0.0.0/8', '127.0.0.0', '127.255.255.255', ['126.255.255.255', '128.0.0.0']],
  ['link-local, 169.254.0.0/16', '169.254.0.0', '169.254.255.255', ['169.253.255.255', '169.255.0.0']],
  ['private, 172.16.0.0/12', '172.16.0.0', '172.31.255.255', ['172.15.255.255', '172.32.0.0']],
  ['IETF protocol assignments, 192.0.0.0/24', '192.0.0.0', '192.0.0.255', ['191.255.255.255', '192.0.1.0']],
  ['documentation, 192.0.2.0/24', '192.0.2.0', '192.0.2.255', ['192.0.1.255', '192.0.3.0']],
  ['6to4 relays, 192.88.99.0/24', '192.88.99.0', '192.88.99.255', ['192.88.98.255', '192.88.100.0']],
  ['private, 192.168.0.0/16', '192.168.0.0', '192.168.255.255', ['192.167.255.255', '192.169.0.0']],
  ['benchmarks, 198.18.0.0/15', '198.18.0.0', '198.19.255.255', ['198.17.255.255', '198.20.0.0']],
  ['documentation, 198.51.100.0/24', '198.51.100.0', '198.51.100.255', ['198.51.99.255', '198.51.101.0']],
  ['documentation, 203.0.113.0/24', '203.0.113.0', '203.0.113.255', ['203.0.112.255', '203.0.114.0']],
  ['multicast, 224.0.0.0/4', '224.0.0.0', '239.255.255.255', ['223.255.255.255']],
  ['reserved, 240.0.0.0/4', '240.0.0.0', '255.255.255.254', []],
  ['broadcast, 255.255.255.255/32', '255.255.255.255', '255.255.255.255', []],
  ['unspecified, ::/128', '::', '::', []],
  ['loopback, ::1/128', '::1', '::1', []],
  ['local-use NAT64, 64:ff9b:1::/48', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff', []],
  ['discard-only, 100::/64', '100::', '100::ffff:ffff:ffff:ffff', []],
  ['not a global unicast address', '100:0:0:1::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', ['2000::']],
  [
    'IETF protocol assignments, 2001::/23',
    '2001:1::',
    '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff',
    ['2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:200::'],
  ],
  ['benchmarks, 2001:2::/48', '2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff', []],
  [
    'documentation, 2001:db8::/32',
    '2001:db8::',
    '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
    ['2001:db7:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db9::'],
  ],
  [
    'documentation, 3fff::/20',
    '3fff::',
    '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff',
    ['3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:1000::'],
  ],
  [
    'not a global unicast address',
    '4000::',
    'fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    ['3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ],
  ['private (unique local), fc00::/7', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
  ['link-local, fe80::/10', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
  ['site-local, fec0::/10', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
  ['multicast, ff00::/8', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
]

describe('ranges', () => {
  it.each(edges)('%s: %s … %s', (range, first, last, outside) => {
    for (const ip of [first, last]) {
      expect(classifyAddress(ip, [])).toMatchObject({ kind: 'forbidden', range, allowable: true })
    }
    for (const ip of outside) expect(kindOf(ip)).toBe('allowed')
  })

  it.each(['1.1.1.1', '8.8.8.8', '93.184.215.14', '2606:4700::1111', '2a00:1450:4001:80b::200e'])(
    '%s is public',
    ip => {
      expect(kindOf(ip)).toBe('allowed')
    },
  )
})

it('an IPv4-compatible IPv6 address is judged like the IPv4 address', () => {
  expect(classifyAddress('::10.0.0.1', [])).toEqual(classifyAddress('10.0.0.1', []))
  expect(kindOf('::8.8.8.8')).toBe('allowed')
  expect(kindOf('::10.0.0.1', ['10.0.0.0/8'])).toBe('allowed')
  expect(kindOf('::10.0.0.1', ['::/0'])).toBe('forbidden')
})

describe('metadata services cannot be allowed', () => {
  it.each([
    ...['169.254.169.254', '169.254.170.2', '169.254.170.23', '169.254.42.42', '169.254.0.23', '100.100.100.200'],
    ...['168.63.129.16', '192.0.0.192', 'fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254', 'fd00:42::42'],
    ...['fd00:c1::a9fe:a9fe', 'fd00:a9fe:a9fe::1', 'fd00:100::100:200', 'fe80::a9fe:a9fe', '::ffff:169.254.169.254'],
    ...['::169.254.169.254', '64:ff9b::a9fe:a9fe', '64:ff9b:1::a9fe:a9fe', '64:ff9b:1:a9fe:a9:fe00::'],
    ...['64:ff9b:1:a9:fe:a9fe::', '64:ff9b:1:0:a9:fea9:fe00:0', '2002:a9fe:a9fe::', '2001:0:a9fe:a9fe::f7f7:f7f7'],
  ])('%s', ip => {
    const verdict = classifyAddress(ip, parseAllow(['0.0.0.0/0', '::/0', '169.254.169.254', 'fd00:ec2::254/128']))
    expect(verdict).toMatchObject({ kind: 'forbidden', allowable: false })
    expect(explainForbidden(ip, verdict as never)).toMatch(
      /^address \S+ is not allowed \(.+ of .+\): use another address, because network\.allow cannot permit this one$/,
    )
  })

  it('their neighbours can', () => {
    expect(kindOf('169.254.169.253', ['169.254.0.0/16'])).toBe('allowed')
    expect(kindOf('64:ff9b:1::a00:1', ['64:ff9b:1::/48'])).toBe('allowed')
  })
})

describe('forbids everything that is not a plain address, even with all addresses allowed', () => {
  it.each([
    ...['', 'localhost', '127.1', '0x7f.0.0.1', '0177.0.0.1', '2130706433', '1.2.3.4.5', '256.0.0.1', ' 8.8.8.8'],
    '8.8.8.8/32',
  ])('%p', ip => {
    expect(classifyAddress(ip, parseAllow(['0.0.0.0/0', '::/0']))).toMatchObject({
      kind: 'forbidden',
      allowable: false,
    })
  })
  it.each(['fe80::1%eth0', '2606:4700::1%1', ':::', '[::1]', '1::2::3', '::g', '12345::', '::ffff:256.0.0.1'])(
    '%p',
    ip => {
      expect(classifyAddress(ip, parseAllow(['0.0.0.0/0', '::/0']))).toMatchObject({
        kind: 'forbidden',
        allowable: false,
      })
    },
  )
})

describe('network.allow', () => {
  it.each([
    ['10.0.0.0/8', '10.1.2.3', '172.16.0.1'],
    ['10.128.0.0/9', '10.128.0.0', '10.127.255.255'],
    ['192.168.7.7', '192.168.7.7', '192.168.7.8'],
    ['::1', '::1', '::2'],
    ['fd00::/8', 'fd12::1', 'fc00::1'],
    ['::ffff:10.0.0.0/104', '10.9.9.9', '127.0.0.1'],
    ['0.0.0.0/0', '127.0.0.1', '::1'],
  ])('%s opens %s and not %s', (block, inside, outside) => {
    expect(kindOf(inside, [block])).toBe('allowed')
    expect(kindOf(outside, [block])).toBe('forbidden')
  })

  it.each([
    ['bits after the prefix', '10.0.0.1/8'],
    ['a prefix too long', '10.0.0.0/33'],
    ['a prefix too long for v6', '::/129'],
    ['no digits', '10.0.0.0/'],
    ['a mask', '10.0.0.0/255.0.0.0'],
    ['a sign', '10.0.0.0/+8'],
    ['two prefixes', '10.0.0.0/8/8'],
    ['a short address', '10/8'],
    ['a name', 'localhost'],
    ['a zone', 'fe80::1%eth0'],
    ['nothing', ''],
  ])('%s is not a valid block: %s', (_name, text) => {
    expect(parseCidr(text)).toBeUndefined()
    expect(() => parseAllow(['::1', text])).toThrow(new RangeError(`network.allow[1]: "${text}" is not a CIDR block`))
  })

  it.each([
    ['NAT64', '64:ff9b::a00:1', '10.0.0.1'],
    ['6to4', '2002:a00:1::1', '10.0.0.1'],
    ['Teredo, of the server', '2001:0:a00:1::f7f7:f7f7', '10.0.0.1'],
    ['Teredo, of the client', '2001:0:808:808::f5ff:fffe', '10.0.0.1'],
    ['IPv4-mapped', '::ffff:a00:1', '10.0.0.1'],
  ])('the objection to an IPv6 address names the IPv4 address that permits it: %s', (_name, ip, v4) => {
    const verdict = classifyAddress(ip, [])
    expect(verdict.kind === 'forbidden' && explainForbidden(ip, verdict)).toBe(
      `address ${ip} is not allowed (private, 10.0.0.0/8): to permit this address, add its IPv4 address ${v4} to network.allow`,
    )
    expect(kindOf(ip, [v4])).toBe('allowed')
  })

  it('the objection names the address that is not allowed yet', () => {
    const ip = '2001:0:a00:1::f5ff:fffd'
    const verdict = classifyAddress(ip, parseAllow(['10.0.0.1']))
    expect(verdict).toMatchObject({ kind: 'forbidden', address: '10.0.0.2' })
  })

  it('is named in the log line for operators', () => {
    const verdict = classifyAddress('10.0.0.1', [])
    expect(verdict.kind === 'forbidden' && explainForbidden('10.0.0.1', verdict)).toBe(
      'address 10.0.0.1 is not allowed (private, 10.0.0.0/8): to permit this address, add it to network.allow',
    )
  })
})

describe('literalAddress', () => {
  it.each([
    ['http://10.0.0.1/', '10.0.0.1'],
    ['https://0x7f.1:8443/x', '127.0.0.1'],
    ['http://%31%30.0.0.1/', '10.0.0.1'],
    ['http://１０.0.0.1/', '10.0.0.1'],
    ['http://[::1]:80/', '::1'],
    ['http://[::ffff:10.0.0.1]/', '::ffff:a00:1'],
    ['http://crm.example.com/', undefined],
    ['http://10.0.0.1.example.com/', undefined],
    ['http://localhost/', undefined],
  ])('%s → %s', (url, address) => {
    expect(literalAddress(new URL(url))).toBe(address)
  })
})

describe('portAllowed', () => {
  it.each([80, 443, 1024, 8080, 8443, 65_535])('%i is open', port => expect(portAllowed(port, undefined)).toBe(true))
  it.each([0, 1, 22, 25, 79, 81, 442, 444, 1023])('%i is closed', port =>
    expect(portAllowed(port, undefined)).toBe(false),
  )
  it('network.ports replaces the default', () => {
    expect([25, 443, 8080].filter(port => portAllowed(port, [25, 443]))).toEqual([25, 443])
    expect(portAllowed(443, [])).toBe(false)
  })
})
