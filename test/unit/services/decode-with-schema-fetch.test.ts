import { expect, it } from '@jest/globals'
import { decodeWithSchemaFetch } from '../../../src/services/decode-with-schema-fetch.ts'

const needed = { kind: 'schema_needed', schemaId: 7 } as const
const value = { kind: 'value', value: 1 } as const
const undecodable = { kind: 'undecodable', detail: 'damaged' } as const

it.each([
  { name: 'decodes a value with a known schema once', reads: [value], knows: true, asked: [], expected: value },
  { name: 'decodes a damaged value only once', reads: [undecodable], knows: true, asked: [], expected: undecodable },
  { name: 'decodes again with the fetched schema', reads: [needed, value], knows: true, asked: [7], expected: value },
  {
    name: 'reports a value that is damaged despite a known schema',
    reads: [needed, undecodable],
    knows: true,
    asked: [7],
    expected: undecodable,
  },
  {
    name: 'reports a schema that the registry does not know',
    reads: [needed],
    knows: false,
    asked: [7],
    expected: { kind: 'undecodable', detail: 'the schema registry does not know schema 7' },
  },
])('$name', async ({ reads, knows, asked, expected }) => {
  const left = [...reads]
  const ids: number[] = []
  const learn = async (id: number): Promise<boolean> => {
    ids.push(id)
    return knows
  }
  expect(await decodeWithSchemaFetch({ learn }, () => left.shift() as (typeof reads)[number])).toEqual(expected)
  expect(ids).toEqual(asked)
  expect(left).toEqual([])
})

it('rejects while the registry cannot be reached', async () => {
  const learn = (): Promise<boolean> => Promise.reject(new Error('no answer'))
  await expect(decodeWithSchemaFetch({ learn }, () => needed)).rejects.toThrow('no answer')
})
