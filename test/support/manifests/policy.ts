import type { Manifest } from '../../../deploy/helm/render.ts'

export interface Policy {
  readonly name: string
  readonly why: string
  /** What breaks it, each in a line; none: it holds. */
  readonly broken: (manifests: readonly Manifest[]) => readonly string[]
}
