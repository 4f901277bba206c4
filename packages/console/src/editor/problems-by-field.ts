import type { Problem } from '../api/response-types.ts'

/** The problems at a path and below it. */
export function problemsAt(problems: readonly Problem[], path: string): readonly Problem[] {
  return problems.filter(
    problem => problem.path === path || problem.path.startsWith(`${path}.`) || problem.path.startsWith(`${path}[`),
  )
}

/** The problems that belong to none of these form fields. */
export function otherProblems(problems: readonly Problem[], fields: readonly string[]): readonly Problem[] {
  const placed = new Set(fields.flatMap(field => problemsAt(problems, field)))
  return problems.filter(problem => !placed.has(problem))
}
