/** A placeholder for data that has not arrived yet. It appears after 0.3 s, to avoid a flash. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <p class="loading" role="status">
      Loading {what}…
    </p>
  )
}
