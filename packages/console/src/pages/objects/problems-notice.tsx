import type { ConfigObject } from '../../api/types.ts'
import { ProblemList } from '../../components/problem-list.tsx'

/**
 * Says why Hookline does not use a destination or a source. Shows nothing if it has no problems.
 */
export function ProblemsNotice({ object: { kind, problems } }: { readonly object: ConfigObject }) {
  if (problems.length === 0) return null
  return (
    <div class="error panel-wide">
      <p>Hookline does not use this {kind} until these problems are corrected:</p>
      <ProblemList problems={problems} />
    </div>
  )
}
