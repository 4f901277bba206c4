import { audienceInputSchema, membershipSchema } from '../adapters/avro/audience-codecs.ts'
import { eventSchema } from '../adapters/avro/event-codec.ts'
import type { Registry } from '../adapters/avro/schema-registry.ts'
import { subjectOf } from '../adapters/avro/schema-texts-and-subject-names.ts'
import type { SchemaSeen } from '../core/doctor/schemas.ts'
import type { Settings } from '../core/settings/settings.ts'
import { topicNames } from '../core/topics.ts'

export interface Subject {
  readonly subject: string
  readonly schema: string
}

/** The registry subjects of an installation, with the schemas of this Hookline version. */
export function subjectsOf({ topics }: Pick<Settings, 'topics'>): readonly Subject[] {
  const { events, audienceInput, memberships } = topicNames(topics.prefix)
  return [
    { subject: subjectOf(events), schema: eventSchema },
    { subject: subjectOf(audienceInput), schema: audienceInputSchema },
    { subject: subjectOf(memberships), schema: membershipSchema },
  ]
}

/** Compatibility levels that let the latest schema read records of all earlier versions. */
export const sufficientLevels = ['BACKWARD_TRANSITIVE', 'FULL_TRANSITIVE']

/**
 * Compares a subject in the registry with the schema of this Hookline version.
 * @throws RegistryUnavailable
 */
export async function schemaStateOf(
  registry: Registry,
  { subject, schema }: Subject,
): Promise<Omit<SchemaSeen, 'subject'>> {
  const registered = await registry.lookUp(subject, schema)
  if (registered !== undefined) {
    const level = await registry.compatibility(subject)
    const { version, id } = registered
    if (sufficientLevels.includes(level ?? '')) return { state: 'registered', detail: `version ${version}, id ${id}` }
    const needed = sufficientLevels.join(' or ')
    const detail =
      level === undefined
        ? `the subject has no compatibility level of its own, but needs ${needed}`
        : `the compatibility level of the subject is ${level}, but must be ${needed}`
    return { state: 'unprotected', detail }
  }
  const verdict = await registry.checkCompatibility(subject, schema)
  if (verdict === undefined) return { state: 'absent', detail: 'no version is registered' }
  if (verdict.isCompatible)
    return { state: 'outdated', detail: 'the schema of this Hookline version is compatible, but not registered yet' }
  return {
    state: 'incompatible',
    detail: verdict.reason || 'the schema of this Hookline version is incompatible with the latest registered schema',
  }
}
