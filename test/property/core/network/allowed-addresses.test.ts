import { isIPv4, isIPv6 } from 'node:net'
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  classifyAddress,
  literalAddress,
  parseAllow,
  parseCidr,
} from '../../../../src/core/network/allowed-addresses.ts'

const word = fc.nat(0xffff_ffff)
const dotted = (value: number): string => [24, 16, 8, 0].map(shift => (value >>> shift) & 0xff).join('.')
const hex = (value: number): string => `${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}`
const v6 = fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 })
const written = (groups: readonly number[]): string => groups.map(group => group.toString(16)).join(':')

/**
 * All forms of IPv6 addresses that contain an IPv4 address. The last two also contain a public IPv4
 * address.
 */
const carriers: readonly ((v4: number) => string)[] = [
  v4 => `::ffff:${dotted(v4)}`,
  v4 => `::ffff:${hex(v4)}`,
  v4 => `0:0:0:0:0:FFFF:${dotted(v4)}`,
  v4 => `::ffff:0:${hex(v4)}`,
  v4 => `64:ff9b::${hex(v4)}`,
  v4 => `64:ff9b::${dotted(v4)}`,
  v4 => `2002:${hex(v4)}::1`,
  v4 => `2002:${hex(v4)}:a:b:c:d:e`,
  v4 => `2001:0:${hex(v4)}:0:0:f7f7:f7f7`,
  v4 => `2001:0:808:808:0:0:${hex(~v4 >>> 0)}`,
]
const carrier = fc.constantFrom(...carriers)

/** IPv4 blocks that Hookline refuses by default: the first address and the prefix length. */
const blocks: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['168.63.129.16', 32],
]
const number = (text: string): number => text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
const inBlock = (value: number, [first, length]: readonly [string, number]): boolean =>
  Math.floor(value / 2 ** (32 - length)) === Math.floor(number(first) / 2 ** (32 - length))
/** Half of the addresses are in a forbidden block. Among random addresses, only few are. */
const address = fc.oneof(
  word,
  fc.tuple(fc.constantFrom(...blocks), word).map(([[first, length], noise]) => {
    const size = 2 ** (32 - length)
    return number(first) + (noise % size)
  }),
)

describe('classifyAddress', () => {
  it('forbids exactly the v4 addresses within the blocks', () => {
    fc.assert(
      fc.property(address, value => {
        const expected = blocks.some(block => inBlock(value, block)) ? 'forbidden' : 'allowed'
        expect(classifyAddress(dotted(value), []).kind).toBe(expected)
      }),
      { numRuns: 2_000 },
    )
  })

  it('judges every IPv6 form like the IPv4 address in it, for any list', () => {
    const list = fc.constantFrom([], ['10.0.0.0/8'], ['127.0.0.0/8', '::1'], ['0.0.0.0/0'], ['::/0'], ['2000::/3'])
    fc.assert(
      fc.property(address, carrier, list, (value, carry, texts) => {
        const allow = parseAllow(texts)
        expect(classifyAddress(carry(value), allow)).toEqual(classifyAddress(dotted(value), allow))
      }),
      { numRuns: 2_000 },
    )
  })

  it('never throws, and allows only addresses that Node accepts', () => {
    const text = fc.oneof(fc.string(), v6.map(written), fc.ipV4(), fc.ipV6(), fc.ipV4Extended(), fc.domain())
    fc.assert(
      fc.property(text, fc.boolean(), (ip, isOpen) => {
        const { kind } = classifyAddress(ip, isOpen ? parseAllow(['0.0.0.0/0', '::/0']) : [])
        if (!isIPv4(ip) && !isIPv6(ip)) expect(kind).toBe('forbidden')
      }),
      { numRuns: 2_000 },
    )
  })

  it('a wider list never forbids what a narrower one allows', () => {
    fc.assert(
      fc.property(address, fc.nat(32), (value, length) => {
        const first = dotted((value - (value % 2 ** (32 - length))) >>> 0)
        const narrow = classifyAddress(dotted(value), []).kind
        const wide = classifyAddress(dotted(value), parseAllow([`${first}/${length}`]))
        if (narrow === 'allowed') expect(wide.kind).toBe('allowed')
        else expect(wide.kind === 'allowed' || !wide.allowable).toBe(true)
      }),
    )
  })
})

describe('parseCidr', () => {
  it('accepts exactly the blocks without bits after their prefix', () => {
    fc.assert(
      fc.property(word, fc.nat(32), (value, length) => {
        const isClean = value % 2 ** (32 - length) === 0
        expect(parseCidr(`${dotted(value)}/${length}`) !== undefined).toBe(isClean)
      }),
    )
  })
})

describe('literalAddress', () => {
  it('finds the address of a URL in any notation', () => {
    const spelling = fc.constantFrom<(value: number) => string>(
      dotted,
      String,
      value => `0x${value.toString(16)}`,
      value => `0${value.toString(8)}`,
      value => `${value >>> 24}.${value & 0xff_ffff}`,
      value => `${dotted(value)}.`,
    )
    fc.assert(
      fc.property(word, spelling, (value, spell) => {
        expect(literalAddress(new URL(`http://${spell(value)}/`))).toBe(dotted(value))
      }),
    )
    fc.assert(
      fc.property(v6, groups => {
        const found = literalAddress(new URL(`http://[${written(groups)}]:8080/x`))
        expect(found !== undefined && isIPv6(found)).toBe(true)
        expect(classifyAddress(found as string, [])).toEqual(classifyAddress(written(groups), []))
      }),
    )
  })
})
