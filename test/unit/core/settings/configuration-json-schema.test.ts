import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import ajv from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import { configurationJsonSchema, keysAt } from '../../../../src/core/settings/configuration-json-schema.ts'
import { configCases } from '../../../support/config/refused-cases.ts'

const root = new URL('../../../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')
const validate = new ajv.Ajv2020({ strict: true, strictTypes: false }).compile(configurationJsonSchema())

type Node = { [key: string]: unknown; properties?: Record<string, Node>; items?: Node }

function keysOf(node: Node, path = ''): [string, Node][] {
  const own = Object.entries(node.properties ?? {}).flatMap(([key, value]): [string, Node][] => [
    [`${path}${key}`, value],
    ...keysOf(value, `${path}${key}.`),
  ])
  return [...own, ...(node.items === undefined ? [] : keysOf(node.items, path))]
}

describe('the JSON Schema', () => {
  it('describes every key', () => {
    const keys = keysOf(configurationJsonSchema() as Node)
    expect(keys.length).toBeGreaterThan(70)
    expect(keys.filter(([, { description }]) => typeof description !== 'string').map(([path]) => path)).toEqual([])
  })

  const accepted = readdirSync(new URL('test/fixtures/config/accepted', root)).filter(name => name.endsWith('.yaml'))
  it.each(['deploy/local/hookline.yaml', ...accepted.map(name => `test/fixtures/config/accepted/${name}`)])(
    'accepts %s',
    path => {
      expect([validate(parse(read(path))), validate.errors]).toEqual([true, null])
    },
  )

  it.each([
    'whole file: everything that is required',
    'whole file: required keys of mappings',
    'an unknown key at the top',
    'unknown nested keys',
    'values of a wrong type',
    'numbers where text is required',
    'numbers out of bounds',
    'durations',
    'choices',
    'ids',
    'empty lists',
    'six webhooks: the sixth is reported, and the others are checked',
    'three secrets',
    'empty secrets',
    'prefix of topics',
    'product token',
  ])('refuses: %s', title => {
    const found = configCases('values').find(each => each.title === title)
    expect(validate(parse(found?.text ?? ''))).toBe(false)
  })

  it('has no sample key and no loopback permission as a default', () => {
    const defaults = keysOf(configurationJsonSchema() as Node).map(([, node]) =>
      JSON.stringify(node['default'] ?? null),
    )
    // These two defaults match the pattern, but are intended.
    const own = ['"127.0.0.1:8090"', '"key"']
    expect(defaults.filter(each => /127\.0\.0\.1|::1|localhost|key|secret/i.test(each))).toEqual(own)
  })
})

describe('keysAt', () => {
  it.each<[string, (string | number)[], string[]]>([
    ['within a list', ['destinations', 3, 'webhooks', 0], ['id', 'url', 'urlFile', 'headers', 'traceHeaders']],
    ['free keys', ['destinations', 0, 'webhooks', 0, 'headers'], []],
    ['an unknown key', ['nowhere', 1, 'else'], []],
  ])('%s', (_, path, keys) => expect(keysAt(path)).toEqual(keys))
})
