import { type AudienceInput, fromInputRecord, type InputRecord, toInputRecord } from '../../core/audience/input.ts'
import type { MembershipRecord } from '../../core/audience/record.ts'
import type { Clock, DecodedValue, ValueCodec } from '../../core/ports.ts'
import { avroCodecs, schemaText } from './confluent-codec.ts'
import type { Registry } from './schema-registry.ts'

/** The schemas as `schemas register` registers them, each under `<topic>-value`. */
export const audienceInputSchema = schemaText('hookline.audience-input-value')
export const membershipSchema = schemaText('hookline.audience-memberships-value')

const inputCodecOf = avroCodecs<AudienceInput, InputRecord, DecodedValue<AudienceInput>, void>({
  one: 'an audience input',
  many: 'audience inputs',
  schema: audienceInputSchema,
  toStored: toInputRecord,
  fromStored(stored) {
    const read = fromInputRecord(stored)
    return read.kind === 'input'
      ? { kind: 'value', value: read.input }
      : { kind: 'undecodable', detail: `the input ${read.detail}` }
  },
})

const membershipCodecOf = avroCodecs<MembershipRecord, MembershipRecord, DecodedValue<MembershipRecord>, void>({
  one: 'a membership',
  many: 'memberships',
  schema: membershipSchema,
  toStored: record => record,
  fromStored: record => ({ kind: 'value', value: record }),
})

interface Deps {
  readonly registry: Registry
  readonly topic: string
  readonly clock: Pick<Clock, 'monotonic'>
}

/**
 * The codec of the audience-input topic. Asks the registry once for the id of our own schema.
 * @throws SchemaNotRegistered, RegistryUnavailable
 */
export const createAudienceInputCodec = (deps: Deps): Promise<ValueCodec<AudienceInput>> => inputCodecOf(deps)

/** The codec of the memberships topic; as `createAudienceInputCodec`. */
export const createMembershipCodec = (deps: Deps): Promise<ValueCodec<MembershipRecord>> => membershipCodecOf(deps)
