import { labelOf, toneOf } from './state-colours-and-labels.ts'

export interface BadgeProps {
  readonly state: string
  /** The thing that has the state, if the text around the badge does not name it. */
  readonly of?: string
}

/** A state in words, so that it is clear without the colour. */
export function Badge({ state, of }: BadgeProps) {
  return (
    <span class={`badge badge-${toneOf(state)}`}>
      {of !== undefined && `${of} `}
      {labelOf(state)}
    </span>
  )
}
