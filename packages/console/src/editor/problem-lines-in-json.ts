import { type MemberNode, parse, type ValueNode } from '@humanwhocodes/momoa'
import { parsePath } from '../../../../src/core/config-objects/parse-path.ts'
import type { Problem } from '../api/response-types.ts'

export interface PlacedProblem extends Problem {
  /** The first line is 1. */
  readonly line: number
  /** The index in the text at which the wrong member or value begins. */
  readonly offset: number
}

/**
 * Finds the line of each problem in a JSON text. A missing path gets the line of the nearest
 * enclosing value.
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

/** Follows the path as far as the text has it. Returns the last member or value that was found. */
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
