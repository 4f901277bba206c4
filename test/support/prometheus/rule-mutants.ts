import type { Rule } from './rules.ts'

/** A rule with one error, for example a typing error. */
export interface Mutant {
  readonly name: string
  readonly rule: Rule
}

/**
 * Matches one token of an expression. A string, range, duration or name is one token, so that
 * operators and numbers in it are not changed.
 */
const token = /"(?:\\.|[^"\\])*"|\[[^\]]*\]|\{[^}]*\}|[a-zA-Z_:][\w:]*|\d+[smhdwy]|\d+(?:\.\d+)?|==|!=|[<>]=?/g

const comparisons: Record<string, string> = { '>': '<', '<': '>', '==': '!=', '!=': '==' }
const aggregations: Record<string, string> = { max: 'min', min: 'max' }

/** Returns the mutants of a rule. At least one test must fail for each mutant. */
export function mutantsOf(rule: Rule): readonly Mutant[] {
  return [...inExpression(rule), ...inPatience(rule)]
}

function inExpression(rule: Rule): readonly Mutant[] {
  return [...rule.expr.matchAll(token)].flatMap(({ 0: found, index }) =>
    replacements(found).map(other => ({
      name: `${found} → ${other} at ${index}`,
      rule: { ...rule, expr: rule.expr.slice(0, index) + other + rule.expr.slice(index + found.length) },
    })),
  )
}

function replacements(found: string): readonly string[] {
  const other = comparisons[found] ?? aggregations[found]
  if (other !== undefined) return [other]
  if (found.startsWith('{')) return ['']
  if (!/^[\d.]+$/.test(found)) return []
  return Number(found) === 0 ? ['1e9'] : [`${Number(found) * 2}`, `${Number(found) / 2}`]
}

function inPatience({ for: patience, ...rule }: Rule): readonly Mutant[] {
  if (patience === undefined) return []
  const minutes = Number(/^(\d+)m$/.exec(patience)?.[1])
  return [
    { name: 'without for', rule },
    { name: 'for thrice as long', rule: { ...rule, for: `${minutes * 3}m` } },
  ]
}
