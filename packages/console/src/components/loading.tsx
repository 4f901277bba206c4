/** Takes the place of data that has not arrived yet. It appears after a moment, to avoid a flash. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <p class="loading" role="status">
      Loading {what}…
    </p>
  )
}
