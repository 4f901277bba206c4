import type { ConfigObject } from './response-types.ts'

export interface ObjectChange {
  readonly kind: ConfigObject['kind']
  readonly id: string
  readonly version: number
  readonly action: 'created' | 'updated' | 'deleted'
  readonly by: string
  readonly fields: readonly string[]
  readonly at: string
}

export interface ChangeList {
  /** Set when there are older changes that `changes` does not have. */
  readonly partial?: true
  readonly changes: readonly ObjectChange[]
}
