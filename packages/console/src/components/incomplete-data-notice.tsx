/** A note that the page shows incomplete data. `children` says what is missing, and why. */
export function PartialNotice({ children }: { readonly children: string }) {
  return (
    <p class="notice" role="note">
      <strong>Incomplete.</strong> {children}
    </p>
  )
}
