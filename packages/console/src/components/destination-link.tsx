import { Link } from 'wouter-preact'

/** A link to the page of a destination. */
export function DestinationLink({ id }: { readonly id: string }) {
  return (
    <Link href={`/destinations/${encodeURIComponent(id)}`} class="id">
      {id}
    </Link>
  )
}
