import { Link } from 'wouter-preact'

export function DestinationLink({ id }: { readonly id: string }) {
  return (
    <Link href={`/destinations/${encodeURIComponent(id)}`} class="id">
      {id}
    </Link>
  )
}
