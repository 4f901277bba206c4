import type { Problem } from '../api/response-types.ts'

export function ProblemList({ problems }: { readonly problems: readonly Problem[] }) {
  return (
    <ul class="problems">
      {problems.map(({ path, message, hint }) => (
        <li key={`${path} ${message}`}>
          {path !== '' && <code>{path}</code>} {message}
          {hint !== undefined && hint !== '' && <span class="hint"> — {hint}</span>}
        </li>
      ))}
    </ul>
  )
}
