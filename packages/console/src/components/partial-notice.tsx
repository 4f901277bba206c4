/** Says that an answer is not complete. */
export function PartialNotice({ children }: { readonly children: string }) {
  return (
    <p class="notice" role="note">
      <strong>Incomplete.</strong> {children}
    </p>
  )
}
