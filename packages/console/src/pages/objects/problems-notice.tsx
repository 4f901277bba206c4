import type { ConfigObject } from '../../api/response-types.ts'
import { ProblemList } from '../../components/problem-list.tsx'

/**
 * Says why Hookline does not use a destination or source, or which unknown sources a destination of
 * the configuration file names.
 */
export function ProblemsNotice({ object: { kind, state, problems } }: { readonly object: ConfigObject }) {
  if (problems.length === 0) return null
  return (
    <div class="error panel-wide">
      <p>
        {state === 'excluded'
          ? `Hookline does not use this ${kind} until these problems are corrected:`
          : `Hookline uses this ${kind}, but it has these problems:`}
      </p>
      <ProblemList problems={problems} />
    </div>
  )
}
