import { numbered } from '../numbered.ts'
import type { TopicDrift } from '../topic-drift.ts'
import type { Judgement } from './finding.ts'

/** One line for each difference; or one that says that there is none. */
export function judgeTopics(drift: readonly TopicDrift[], count: number): readonly Judgement[] {
  const told = drift.map(
    ({ topic, kind, severity, detail }): Judgement => ({
      level: severity === 'error' ? 'fail' : 'warn',
      // One line about all of them names none.
      ...(topic !== '*' && { which: topic }),
      detail,
      ...(kind === 'missing' && { remedy: 'create it with: hookline topics apply' }),
    }),
  )
  const isFit = !drift.some(({ severity }) => severity === 'error')
  return isFit ? [{ level: 'ok', detail: `${numbered(count, 'topic')} fit for use` }, ...told] : told
}
