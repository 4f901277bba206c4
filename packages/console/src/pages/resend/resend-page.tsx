import { OperatePage } from '../../components/page-for-role-operate.tsx'
import { useQuery } from '../../layout/use-address-query.ts'
import { ResendEvents } from './resend-form.tsx'

/** Resends the events of a time span to one destination. */
export function ResendPage() {
  const destination = new URLSearchParams(useQuery()).get('destination') ?? ''
  return (
    <OperatePage title="Resend events" purpose="To resend events">
      <ResendEvents key={destination} destination={destination} />
    </OperatePage>
  )
}
