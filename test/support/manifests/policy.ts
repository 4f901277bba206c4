import type { Manifest } from '../../../deploy/tools/chart/render.ts'

export interface Policy {
  readonly name: string
  readonly why: string
  /** What breaks it, each in a line; none: it holds. */
  readonly broken: (manifests: readonly Manifest[]) => readonly string[]
}
