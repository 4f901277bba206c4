import { type Judgement, numbered } from './finding.ts'

export interface SchemaSeen {
  readonly subject: string
  /** `registered`: may be used. The others say what stands against it. */
  readonly state: 'registered' | 'absent' | 'outdated' | 'incompatible' | 'unprotected'
  readonly detail: string
}

/** One line for each schema that is not ready; or one that says that all are. */
export function judgeSchemas(schemas: readonly SchemaSeen[]): readonly Judgement[] {
  const unready = schemas.filter(({ state }) => state !== 'registered')
  if (unready.length === 0) return [{ level: 'ok', detail: `${numbered(schemas.length, 'schema')} registered` }]
  return unready.map(({ subject, state, detail }) => ({
    level: state === 'unprotected' ? 'warn' : 'fail',
    which: subject,
    detail: `${state}: ${detail}`,
    remedy:
      state === 'incompatible'
        ? 'another program or a newer version wrote it'
        : 'put it right with: hookline schemas register',
  }))
}
