import { isMap, isScalar, isSeq, type ParsedNode } from 'yaml'
import { keyNames } from '../../core/settings/configuration-json-schema.ts'
import type { Path } from '../../core/settings/settings-problem.ts'

/**
 * The path of the last key or element that starts at or before an offset. The path ends before the
 * first key that is not in the configuration schema, because this key may be a secret.
 */
export function pathBefore(contents: ParsedNode | null | undefined, offset: number): Path {
  const path: (string | number)[] = []
  let node: unknown = contents
  for (;;) {
    if (isMap<ParsedNode, ParsedNode | null>(node)) {
      const pair = node.items.findLast(({ key }) => key.range[0] <= offset)
      const key = isScalar(pair?.key) ? pair.key.value : undefined
      if (pair === undefined || typeof key !== 'string' || !keyNames.has(key)) return path
      path.push(key)
      node = pair.value
    } else if (isSeq<ParsedNode | null>(node)) {
      const place = node.items.findLastIndex(item => item !== null && item.range[0] <= offset)
      if (place < 0) return path
      path.push(place)
      node = node.items[place]
    } else return path
  }
}
