import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from '@jest/globals'
import { headerKeyOf, queryKeyOf } from '../../../../src/adapters/http/header-and-query-write-key.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')

const withHeaders = (headers: Record<string, string>, distinct: Record<string, string[]> = {}): IncomingMessage =>
  ({ headers, headersDistinct: distinct }) as unknown as IncomingMessage

describe('the write key in Authorization', () => {
  it.each<[string, string, string | undefined]>([
    ['user and empty password', `Basic ${base64('KEY:')}`, 'KEY'],
    ['user and password', `Basic ${base64('KEY:secret')}`, 'KEY'],
    ['a password with colons', `Basic ${base64('KEY:a:b')}`, 'KEY'],
    ['without the colon', `Basic ${base64('KEY')}`, 'KEY'],
    ['scheme in lower case (RFC 9110 11.1)', `basic ${base64('KEY:')}`, 'KEY'],
    ['scheme in upper case', `BASIC ${base64('KEY:')}`, 'KEY'],
    ['more than one space', `Basic   ${base64('KEY:')}`, 'KEY'],
    ['a tab', `Basic\t${base64('KEY:')}`, 'KEY'],
    ['no padding', `Basic ${base64('KEYS:').replace(/=+$/, '')}`, 'KEYS'],
    ['the URL alphabet', `Basic ${Buffer.from('k?~>key:').toString('base64url')}`, 'k?~>key'],
    ['the usual alphabet with + and /', `Basic ${base64('k?~>kéy~~?:')}`, 'k?~>kéy~~?'],
    ['UTF-8', `Basic ${base64('schlüssel:')}`, 'schlüssel'],
    ['no user', `Basic ${base64(':secret')}`, undefined],
    ['nothing', 'Basic ', undefined],
    ['the scheme alone', 'Basic', undefined],
    ['no base64', 'Basic !!!', undefined],
    ['two words', 'Basic S0VZ Og==', undefined],
    ['padding in the middle', 'Basic S0VZ=Og==', undefined],
    ['another scheme, such as OAuth: the body has the key', 'Bearer abc', undefined],
    ['a scheme that only begins like Basic', `Basics ${base64('KEY:')}`, undefined],
    ['empty', '', undefined],
  ])('%s', (_, authorization, key) => {
    expect(headerKeyOf(withHeaders({ authorization }))).toBe(key)
  })

  it('is parsed in linear time', () => {
    const [spaces, letters] = [' '.repeat(200_000), 'A'.repeat(200_000)]
    const started = performance.now()
    headerKeyOf(withHeaders({ authorization: `Basic ${spaces}${letters} ${spaces}!` }))
    // An algorithm with quadratic time would need most of a minute.
    expect(performance.now() - started).toBeLessThan(10_000)
  })
})

describe('the write key in X-Write-Key', () => {
  it.each<[string, Record<string, string>, string | undefined]>([
    ['alone', { 'x-write-key': 'KEY' }, 'KEY'],
    ['Jitsu: key and secret, which the lookup of keys separates', { 'x-write-key': 'KEY:secret' }, 'KEY:secret'],
    ['empty', { 'x-write-key': '' }, undefined],
    ['Authorization has priority', { authorization: `Basic ${base64('A:')}`, 'x-write-key': 'X' }, 'A'],
    ['it is used when Authorization has no key', { authorization: 'Bearer abc', 'x-write-key': 'X' }, 'X'],
    ['no header at all', {}, undefined],
  ])('%s', (_, headers, key) => {
    expect(headerKeyOf(withHeaders(headers))).toBe(key)
  })

  it('uses the first of two header fields', () => {
    expect(headerKeyOf(withHeaders({ 'x-write-key': 'A, B' }, { 'x-write-key': ['A', 'B'] }))).toBe('A')
  })

  it('does not treat every comma as the start of a second header field', () => {
    expect(headerKeyOf(withHeaders({ 'x-write-key': 'A, B' }, { 'x-write-key': ['A, B'] }))).toBe('A, B')
  })
})

describe('the write key in the query', () => {
  it.each<[string, unknown, string | undefined]>([
    ['there', { writeKey: 'KEY' }, 'KEY'],
    ['not there', { key: 'KEY' }, undefined],
    ['empty', { writeKey: '' }, undefined],
    ['twice: the first', { writeKey: ['A', 'B'] }, 'A'],
    ['twice, the first one empty', { writeKey: ['', 'B'] }, 'B'],
    ['another case', { writekey: 'KEY' }, undefined],
  ])('%s', (_, query, key) => {
    expect(queryKeyOf(query)).toBe(key)
  })
})
