import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from '@jest/globals'
import {
  audienceInputSchema,
  createAudienceInputCodec,
  createMembershipCodec,
  membershipSchema,
} from '../../../../src/adapters/avro/audience-codecs.ts'
import { createEventCodec, eventSchema } from '../../../../src/adapters/avro/event-codec.ts'
import { createRegistry } from '../../../../src/adapters/avro/schema-registry.ts'
import { subjectOf } from '../../../../src/adapters/avro/schema-texts-and-subject-names.ts'
import { processClock } from '../../../../src/adapters/clock/process-clock.ts'
import type { ValueCodec } from '../../../../src/core/ports.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { audienceInput, membershipRecord } from '../../../support/audience/example-records.ts'
import { schemaWith, trackEvent, written } from '../../../support/kafka/memory-schema-registry.ts'

const url = process.env['SCHEMA_REGISTRY_URL'] as string
/** A busy registry can need longer than the default time limit of a call. */
const limitMs = 60_000
const registry = createRegistry({ url, auth: undefined }, limitMs)
const recordTime = epochMs(1_765_000_000_000)
let eventsTopic = ''
let subject = ''

beforeEach(() => {
  eventsTopic = `contract-${randomUUID()}.events`
  subject = subjectOf(eventsTopic)
})

const record = (...names: string[]) =>
  JSON.stringify({
    type: 'record',
    name: `R${subject.replaceAll(/\W/g, '')}`,
    fields: names.map(name => ({ name, type: 'string' })),
  })

describe('a schema registry', () => {
  it('has nothing under a new subject', async () => {
    expect(await registry.lookUp(subject, eventSchema)).toBeUndefined()
    expect(await registry.compatibility(subject)).toBeUndefined()
    expect(await registry.checkCompatibility(subject, eventSchema)).toBeUndefined()
  })

  it('accepts a compatibility level before the first version, and registers a version once', async () => {
    await registry.setBackwardTransitive(subject)
    expect(await registry.compatibility(subject)).toBe('BACKWARD_TRANSITIVE')
    const first = await registry.register(subject, eventSchema)
    expect(first).toEqual({ id: expect.any(Number), version: 1 })
    expect(await registry.register(subject, eventSchema)).toEqual(first)
    expect(await registry.lookUp(subject, eventSchema)).toEqual(first)
  })

  it('rejects an incompatible version, also in the compatibility check', async () => {
    await registry.setBackwardTransitive(subject)
    await registry.register(subject, record('a'))
    expect(await registry.checkCompatibility(subject, record('a', 'b'))).toMatchObject({ isCompatible: false })
    expect(await registry.register(subject, record('a', 'b'))).toEqual({ refused: expect.stringMatching(/./) })
    expect(await registry.lookUp(subject, record('a', 'b'))).toBeUndefined()
    expect(await registry.checkCompatibility(subject, record())).toMatchObject({ isCompatible: true })
  })

  it('rejects an invalid schema', async () => {
    expect(await registry.register(subject, '{"type":"no such type"}')).toEqual({ refused: expect.stringMatching(/./) })
  })

  it.each([-1, 0, 2_000_000_000, 2_147_483_647, 4_294_967_295])('reports the unknown id %s', async id => {
    expect(await registry.findById(id)).toEqual({ kind: 'unknown' })
  })
})

describe('the event codec with a registry', () => {
  async function codecOf() {
    await registry.setBackwardTransitive(subject)
    await registry.register(subject, eventSchema)
    return createEventCodec({ registry, eventsTopic, clock: processClock })
  }
  async function registered(schema: object, under = subject): Promise<number> {
    const result = await registry.register(under, JSON.stringify(schema))
    if ('refused' in result) throw new Error(result.refused)
    return result.id
  }

  it('decodes what another process encoded', async () => {
    const value = (await codecOf()).encode(trackEvent)
    const other = await createEventCodec({ registry, eventsTopic, clock: processClock })
    expect(other.decode(value, recordTime)).toStrictEqual({ kind: 'event', event: trackEvent })
  })

  it("decodes another team's record of another namespace and subject", async () => {
    const codec = await codecOf()
    const schema = schemaWith(fields => fields.slice(0, 5), 'com.acme.shop.Event')
    const id = await registered(schema, subjectOf(`acme-${eventsTopic}`))
    expect(await codec.learn(id)).toBe(true)
    const value = written(id, schema, { sourceId: 'shop', type: 'identify', userId: 'u' })
    expect(codec.decode(value, recordTime)).toMatchObject({
      event: { sourceId: 'shop', receivedAt: recordTime, canonical: false, message: { timestamp: recordTime } },
    })
  })

  it('resolves learn with false for an unknown id', async () => {
    expect(await (await codecOf()).learn(2_000_000_000)).toBe(false)
  })

  it('cannot be created before its schema is registered', async () => {
    await expect(createEventCodec({ registry, eventsTopic, clock: processClock })).rejects.toThrow(
      `not registered under ${subject} at ${url}: run \`hookline schemas register\``,
    )
  })
})

describe('the audience codecs with a registry', () => {
  it.each([
    ['inputs', audienceInputSchema, createAudienceInputCodec, audienceInput],
    ['memberships', membershipSchema, createMembershipCodec, membershipRecord],
  ] as const)('%s: decodes what another process encoded', async (_name, schema, create, value) => {
    const deps = { registry, topic: eventsTopic, clock: processClock }
    await expect(create(deps)).rejects.toThrow(`not registered under ${subject}`)
    await registry.setBackwardTransitive(subject)
    await registry.register(subject, schema)
    const [codec, other] = [await create(deps), await create(deps)] as unknown as [
      ValueCodec<object>,
      ValueCodec<object>,
    ]
    expect(other.decode(codec.encode(value))).toEqual({ kind: 'value', value })
  })
})
