import { countWithNoun } from '../count-with-noun.ts'
import type { Judgement } from './finding.ts'

export interface SchemaSeen {
  readonly subject: string
  /**
   * - `outdated`: the registry has only earlier schemas, which are compatible with the current one.
   * - `incompatible`: the current schema is not compatible with the latest one in the registry.
   * - `unprotected`: the compatibility level of the subject permits incompatible schemas.
   */
  readonly state: 'registered' | 'absent' | 'outdated' | 'incompatible' | 'unprotected'
  readonly detail: string
}

/**
 * Returns one line for each schema with a problem; if all schemas are registered, a single line.
 */
export function judgeSchemas(schemas: readonly SchemaSeen[]): readonly Judgement[] {
  const unready = schemas.filter(({ state }) => state !== 'registered')
  if (unready.length === 0) return [{ level: 'ok', detail: `${countWithNoun(schemas.length, 'schema')} registered` }]
  return unready.map(({ subject, state, detail }) => ({
    level: state === 'unprotected' ? 'warn' : 'fail',
    which: subject,
    detail: `${state}: ${detail}`,
    remedy:
      state === 'incompatible'
        ? 'another program or a newer version of Hookline registered an incompatible schema: update Hookline, or use another topics.prefix'
        : 'to correct this, run: hookline schemas register',
  }))
}
