import { labelOf, toneOf } from './state-colours-and-labels.ts'

export interface BadgeProps {
  readonly state: string
  /**
   * The name of the thing that has the state, shown before the state. Needed only if the text
   * around the badge does not name the thing.
   */
  readonly of?: string
}

/**
 * A state in words, with a colour. The words are always shown, so the state is clear without the
 * colour.
 */
export function Badge({ state, of }: BadgeProps) {
  return (
    <span class={`badge badge-${toneOf(state)}`}>
      {of !== undefined && `${of} `}
      {labelOf(state)}
    </span>
  )
}
