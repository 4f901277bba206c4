import { audienceInputSchema, membershipSchema } from '../adapters/avro/audience-codecs.ts'
import { eventSchema } from '../adapters/avro/avro.ts'
import { subjectOf } from '../adapters/avro/confluent-codec.ts'
import type { Registry } from '../adapters/avro/schema-registry.ts'
import type { SchemaSeen } from '../core/doctor/schemas.ts'
import type { Settings } from '../core/settings/settings.ts'
import { topicNames } from '../core/topics.ts'

export interface Subject {
  readonly subject: string
  readonly schema: string
}

/** What is written on each topic of an installation. */
export function subjectsOf({ topics }: Pick<Settings, 'topics'>): readonly Subject[] {
  const { events, audienceInput, memberships } = topicNames(topics.prefix)
  return [
    { subject: subjectOf(events), schema: eventSchema },
    { subject: subjectOf(audienceInput), schema: audienceInputSchema },
    { subject: subjectOf(memberships), schema: membershipSchema },
  ]
}

/** Levels that let the newest version read whatever was written at any time. */
export const sufficientLevels = ['BACKWARD_TRANSITIVE', 'FULL_TRANSITIVE']

/** @throws RegistryUnavailable */
export async function stateOf(registry: Registry, { subject, schema }: Subject): Promise<Omit<SchemaSeen, 'subject'>> {
  const registered = await registry.lookUp(subject, schema)
  if (registered !== undefined) {
    const level = await registry.compatibility(subject)
    const { version, id } = registered
    if (sufficientLevels.includes(level ?? '')) return { state: 'registered', detail: `version ${version}, id ${id}` }
    const is = level ?? 'the default of the registry'
    return { state: 'unprotected', detail: `compatibility is ${is}, not BACKWARD_TRANSITIVE` }
  }
  const verdict = await registry.mayFollow(subject, schema)
  if (verdict === undefined) return { state: 'absent', detail: 'no version is registered' }
  if (verdict.may) return { state: 'outdated', detail: 'this version is not registered yet, and may be' }
  return { state: 'incompatible', detail: verdict.reason || 'the latest version cannot be followed by this one' }
}
