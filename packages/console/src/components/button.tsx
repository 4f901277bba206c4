import type { ComponentChildren } from 'preact'

export interface ButtonProps {
  readonly children: ComponentChildren
  readonly onClick?: () => void
  readonly kind?: 'primary' | 'danger' | 'plain'
  readonly type?: 'button' | 'submit'
  readonly isDisabled?: boolean
  /** The name for screen readers, if the text is not enough. */
  readonly label?: string
}

export function Button({ children, onClick, kind = 'plain', type = 'button', isDisabled = false, label }: ButtonProps) {
  return (
    <button type={type} class={`button button-${kind}`} onClick={onClick} disabled={isDisabled} aria-label={label}>
      {children}
    </button>
  )
}
