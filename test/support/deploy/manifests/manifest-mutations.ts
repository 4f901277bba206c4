import type { Manifest } from '../../../../deploy/tools/chart/render.ts'

/* Functions that add one error to valid manifests. */

export type Spoil = (manifests: readonly Manifest[]) => readonly Manifest[]

/**
 * Sets a value in the first object of a kind. Dots separate the keys of `path`. Undefined removes
 * the field.
 */
export const at =
  (kind: string, path: string, value: unknown): Spoil =>
  manifests => {
    const changed = structuredClone(manifests) as Manifest[]
    const found = changed.find(each => each.kind === kind)
    if (found === undefined) throw new Error(`there is no ${kind}`)
    const keys = path.split('.')
    const last = keys.pop() as string
    let parent = found as Record<string, unknown>
    for (const key of keys) {
      if (parent[key] === undefined) parent[key] = {}
      parent = parent[key] as Record<string, unknown>
    }
    if (value === undefined) delete parent[last]
    else parent[last] = value
    return changed
  }

/** Sets the value at `path` in the first container. */
export const inContainer = (kind: string, path: string, value: unknown): Spoil =>
  at(kind, `spec.template.spec.containers.0.${path}`, value)
export const inPod = (kind: string, path: string, value: unknown): Spoil =>
  at(kind, `spec.template.spec.${path}`, value)

export const without =
  (kind: string): Spoil =>
  manifests =>
    manifests.filter(each => each.kind !== kind)

export const plus =
  (kind: string, name = 'hookline'): Spoil =>
  manifests => [
    ...manifests,
    { apiVersion: 'v1', kind, metadata: { name, labels: { 'app.kubernetes.io/name': 'hookline' } } },
  ]
