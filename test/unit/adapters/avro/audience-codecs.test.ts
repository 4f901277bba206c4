import { describe, expect, it } from '@jest/globals'
import {
  audienceInputSchema,
  createAudienceInputCodec,
  createMembershipCodec,
  membershipSchema,
} from '../../../../src/adapters/avro/audience-codecs.ts'
import { SchemaNotRegistered, subjectOf } from '../../../../src/adapters/avro/schema-texts-and-subject-names.ts'
import { toInputRecord } from '../../../../src/core/audience/input.ts'
import type { ValueCodec } from '../../../../src/core/ports.ts'
import { audienceInput, membershipRecord } from '../../../support/audience/example-records.ts'
import { MemoryRegistry } from '../../../support/kafka/memory-schema-registry.ts'
import { withField, writtenAs } from '../../../support/kafka/schema-evolution.ts'
import { ManualClock } from '../../../support/manual-clock.ts'

const topic = 'hookline.some'
const clock = new ManualClock()
const registryWith = (schema: string) => new MemoryRegistry({ subject: subjectOf(topic), schema })

async function inputs() {
  const registry = registryWith(audienceInputSchema)
  return { registry, codec: await createAudienceInputCodec({ registry, topic, clock }) }
}
async function memberships() {
  const registry = registryWith(membershipSchema)
  return { registry, codec: await createMembershipCodec({ registry, topic, clock }) }
}

describe.each([
  ['inputs', inputs, audienceInput, toInputRecord(audienceInput), audienceInputSchema],
  ['memberships', memberships, membershipRecord, membershipRecord, membershipSchema],
] as const)('%s', (_name, make, value, stored, schema) => {
  const made = make as () => Promise<{ registry: MemoryRegistry; codec: ValueCodec<object> }>

  it('are decoded as they were encoded', async () => {
    const { codec } = await made()
    const bytes = codec.encode(value)
    expect([...bytes.subarray(0, 5)]).toEqual([0, 0, 0, 0, 1])
    expect(codec.decode(bytes)).toEqual({ kind: 'value', value })
  })

  it('of a newer schema version are decoded without the unknown fields', async () => {
    const { registry, codec } = await made()
    const newer = withField(schema, { name: 'added', type: ['null', 'long'], default: null })
    const id = registry.add(newer)
    const bytes = writtenAs(id, newer, { ...stored, added: 5 })
    expect(codec.decode(bytes)).toEqual({ kind: 'schema_needed', schemaId: id })
    expect(await codec.learn(id)).toBe(true)
    expect(codec.decode(bytes)).toEqual({ kind: 'value', value })
  })

  it.each([
    ['not framed', Buffer.from('{"kind":"observed"}'), /not an Avro record/],
    ['truncated', Buffer.from([0, 0, 0, 0, 1, 2]), /corrupt, or was not written with schema 1/],
  ])('are undecodable when %s', async (_case, bytes, detail) => {
    expect((await made()).codec.decode(bytes)).toEqual({ kind: 'undecodable', detail: expect.stringMatching(detail) })
  })

  it('have no codec before their schema is registered', async () => {
    const { registry } = await made()
    registry.forgetOwn()
    const create = make === inputs ? createAudienceInputCodec : createMembershipCodec
    await expect(create({ registry, topic, clock })).rejects.toThrow(SchemaNotRegistered)
    await expect(create({ registry, topic, clock })).rejects.toThrow(/ is not registered under hookline\.some-value/)
  })
})

describe('inputs of an older or newer version', () => {
  it('are undecodable with an unknown kind', async () => {
    const { codec } = await inputs()
    const bytes = writtenAs(1, JSON.parse(audienceInputSchema), { ...toInputRecord(audienceInput), kind: 'merged' })
    expect(codec.decode(bytes)).toEqual({ kind: 'undecodable', detail: "the input has the unknown kind 'merged'" })
  })

  it('have the defaults of fields that were added later', async () => {
    const { registry, codec } = await inputs()
    const { fields, ...rest } = JSON.parse(audienceInputSchema) as { fields: { name: string }[] }
    const older = { ...rest, fields: fields.filter(({ name }) => name !== 'version' && name !== 'result') }
    const id = registry.add(older)
    await codec.learn(id)
    expect(codec.decode(writtenAs(id, older, toInputRecord(audienceInput)))).toEqual({
      kind: 'value',
      value: audienceInput,
    })
  })
})

describe('a membership record with another schema', () => {
  it('is undecodable, and the detail names the expected value', async () => {
    const { registry, codec } = await memberships()
    const id = registry.add({ type: 'string' })
    await codec.learn(id)
    expect(codec.decode(Buffer.from([0, 0, 0, 0, id, 0]))).toEqual({
      kind: 'undecodable',
      detail: expect.stringMatching(/^Hookline cannot read a value with schema 2 as a membership: /),
    })
  })
})
