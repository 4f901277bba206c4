/** A placeholder for data that is loading. It appears after 0.3 s, to avoid a flash. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <p class="loading" role="status">
      Loading {what}…
    </p>
  )
}
