import { type MemberNode, parse, type ValueNode } from '@humanwhocodes/momoa'
import { parsePath } from '../../../../src/core/config-objects/parse-path.ts'
import type { Problem } from '../api/response-types.ts'

/** The problems of the field at a path, and of everything below it. */
export function problemsAt(problems: readonly Problem[], path: string): readonly Problem[] {
  return problems.filter(
    problem => problem.path === path || problem.path.startsWith(`${path}.`) || problem.path.startsWith(`${path}[`),
  )
}

/** The problems that do not belong to any of these form fields. */
export function otherProblems(problems: readonly Problem[], fields: readonly string[]): readonly Problem[] {
  const placed = new Set(fields.flatMap(field => problemsAt(problems, field)))
  return problems.filter(problem => !placed.has(problem))
}

/** A problem with its place in the text. */
export interface PlacedProblem extends Problem {
  /** The line number; the first line is 1. */
  readonly line: number
  /** The index of the character at which the value begins. */
  readonly offset: number
}

/**
 * The problems with their lines in a JSON text. If the path of a problem is not in the text, for
 * example the path of a missing key, the problem is placed at the nearest enclosing value. In a
 * text that is not JSON, all problems are placed at the beginning.
 */
export function placesOf(text: string, problems: readonly Problem[]): readonly PlacedProblem[] {
  const root = rootOf(text)
  return problems.map(problem => {
    const found = root === undefined ? undefined : nearest(root, parsePath(problem.path))
    const { line, offset } = found?.loc.start ?? { line: 1, offset: 0 }
    return { ...problem, line, offset }
  })
}

function rootOf(text: string): ValueNode | undefined {
  try {
    return parse(text).body
  } catch {
    return undefined
  }
}

/**
 * Returns the member or value at the path. If the text does not have the whole path, returns the
 * member or value at the longest part of the path that it has.
 */
function nearest(root: ValueNode, path: readonly (string | number)[]): ValueNode | MemberNode {
  let found: ValueNode | MemberNode = root
  for (const key of path) {
    const inner = innerOf(found.type === 'Member' ? found.value : found, key)
    if (inner === undefined) return found
    found = inner
  }
  return found
}

function innerOf(node: ValueNode, key: string | number): ValueNode | MemberNode | undefined {
  if (node.type === 'Array') return node.elements.at(Number(key))?.value
  if (node.type !== 'Object') return undefined
  return node.members.find(({ name }) => (name.type === 'String' ? name.value : name.name) === key)
}
