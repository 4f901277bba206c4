import { expect, it } from '@jest/globals'
import { decodeLearning } from '../../../src/services/decode-learning.ts'

const needed = { kind: 'schema_needed', schemaId: 7 } as const
const value = { kind: 'value', value: 1 } as const
const undecodable = { kind: 'undecodable', detail: 'damaged' } as const

it.each([
  { name: 'what can be read is read once', reads: [value], knows: true, asked: [], expected: value },
  { name: 'what is damaged is not read again', reads: [undecodable], knows: true, asked: [], expected: undecodable },
  { name: 'after its schema was learnt it is read', reads: [needed, value], knows: true, asked: [7], expected: value },
  {
    name: 'it may be damaged all the same',
    reads: [needed, undecodable],
    knows: true,
    asked: [7],
    expected: undecodable,
  },
  {
    name: 'a schema that nobody knows',
    reads: [needed],
    knows: false,
    asked: [7],
    expected: { kind: 'undecodable', detail: 'schema 7 is not known to the registry' },
  },
])('$name', async ({ reads, knows, asked, expected }) => {
  const left = [...reads]
  const ids: number[] = []
  const learn = async (id: number): Promise<boolean> => {
    ids.push(id)
    return knows
  }
  expect(await decodeLearning({ learn }, () => left.shift() as (typeof reads)[number])).toEqual(expected)
  expect(ids).toEqual(asked)
  expect(left).toEqual([])
})

it('rejects while the registry cannot be reached', async () => {
  const learn = (): Promise<boolean> => Promise.reject(new Error('no answer'))
  await expect(decodeLearning({ learn }, () => needed)).rejects.toThrow('no answer')
})
