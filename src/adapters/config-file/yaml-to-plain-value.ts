import { isAlias, isMap, isScalar, isSeq, type ParsedNode, type YAMLMap } from 'yaml'
import { formatPath, type Path } from '../../core/settings/settings-problem.ts'
import { type Environment, substitute, withoutEnvironment } from './environment-substitution.ts'

const mergeHint = 'copy the keys and values of the merged mapping here'

interface OffsetProblem {
  readonly path: Path
  readonly offset: number
  readonly message: string
  readonly hint: string
}

/** A text in which environment variables were replaced. */
export interface TextWithVariables {
  readonly path: Path
  readonly variables: readonly string[]
}

interface PlainValue {
  readonly value: unknown
  readonly problems: readonly OffsetProblem[]
  readonly substituted: readonly TextWithVariables[]
  /**
   * The offsets of each key and its value, by path. For an element of a list, `key` is the offset
   * of the element.
   */
  readonly offsets: ReadonlyMap<string, { readonly key: number; readonly value: number }>
}

type Node = ParsedNode | null | undefined

/**
 * Converts a parsed document to plain values. Anchors, aliases, merge keys and tags are refused, so
 * that a few characters cannot expand to a large value.
 */
export function plainValue(root: Node, env: Environment | undefined): PlainValue {
  const problems: OffsetProblem[] = []
  const substituted: TextWithVariables[] = []
  const offsets = new Map<string, { key: number; value: number }>()

  function refuse(path: Path, offset: number, message: string, hint: string): undefined {
    problems.push({ path, offset, message, hint })
  }

  function visit(node: Node, path: Path, keyOffset: number): unknown {
    const empty = !node || (isScalar(node) && node.value === null)
    const offset = empty ? keyOffset : node.range[0]
    offsets.set(formatPath(path), { key: keyOffset, value: offset })
    if (!node) return null
    if (isAlias(node)) return refuse(path, offset, 'is an alias; aliases are not supported', 'repeat the value here')
    if (node.anchor !== undefined) refuse(path, offset, 'has an anchor; anchors are not supported', 'remove it')
    if (node.tag !== undefined) return refuse(path, offset, 'has a YAML tag; YAML tags are not supported', 'remove it')
    if (isMap(node)) return mapping(node, path)
    if (isSeq(node)) {
      return node.items.map((item, index) => visit(item as Node, [...path, index], (item as Node)?.range[0] ?? offset))
    }
    return typeof node.value === 'string' ? text(node.value, path, offset) : node.value
  }

  function text(written: string, path: Path, offset: number): string | undefined {
    const result = env === undefined ? withoutEnvironment(written) : substitute(written, env)
    if (result.kind === 'refused') return refuse(path, offset, result.message, result.hint)
    if (result.variables.length > 0) substituted.push({ path, variables: result.variables })
    return result.text
  }

  function mapping(map: YAMLMap.Parsed, path: Path): Record<string, unknown> {
    const value: Record<string, unknown> = {}
    for (const pair of map.items) {
      const offset = pair.key.range[0]
      const key = isScalar(pair.key) ? pair.key.value : undefined
      if (typeof key !== 'string') {
        refuse(path, offset, 'has a key that is not a string', 'put the key in quotes')
        continue
      }
      const at = [...path, key]
      if (key === '<<') refuse(at, offset, 'is a merge key; merge keys are not supported', mergeHint)
      // As a key of a plain object, `__proto__` would set the prototype.
      else if (key === '__proto__') refuse(at, offset, 'unknown key', 'leave it out')
      else if (Object.hasOwn(value, key)) refuse(at, offset, 'is a duplicate key', 'remove this key or the earlier one')
      else value[key] = visit(pair.value, at, offset)
    }
    return value
  }

  const value = visit(root, [], 0)
  return { value, problems, substituted, offsets }
}
