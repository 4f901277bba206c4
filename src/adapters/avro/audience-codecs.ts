import { type AudienceInput, fromInputRecord, type InputRecord, toInputRecord } from '../../core/audience/input.ts'
import type { MembershipRecord } from '../../core/audience/membership-and-watermark-records.ts'
import type { Clock, DecodedValue, ValueCodec } from '../../core/ports.ts'
import { avroCodecs } from './avro-codec.ts'
import type { Registry } from './schema-registry.ts'
import { readSchemaText } from './schema-texts-and-subject-names.ts'

export const audienceInputSchema = readSchemaText('hookline.audience-input-value')
export const membershipSchema = readSchemaText('hookline.audience-memberships-value')

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
  readonly clock: Pick<Clock, 'monotonic' | 'after'>
}

/**
 * Creates the codec of the audience-input topic.
 * @throws SchemaNotRegistered, RegistryUnavailable
 */
export const createAudienceInputCodec = (deps: Deps): Promise<ValueCodec<AudienceInput>> => inputCodecOf(deps)

/**
 * Creates the codec of the memberships topic.
 * @throws SchemaNotRegistered, RegistryUnavailable
 */
export const createMembershipCodec = (deps: Deps): Promise<ValueCodec<MembershipRecord>> => membershipCodecOf(deps)
