import type { AutomaticDisabling } from '../../api/response-types.ts'
import { Time } from '../../components/time.tsx'

export interface DisabledNoticeProps {
  readonly disabling: AutomaticDisabling
}

/** Says when and why Hookline has disabled a destination. */
export function DisabledNotice({ disabling: { at, reason, failingSince } }: DisabledNoticeProps) {
  return (
    <div class="error panel-wide">
      <p>
        <strong>Hookline disabled this destination</strong> at <Time at={at} />, because{' '}
        {reason === 'gone' ? 'all its webhooks have responded with 410 Gone' : 'no attempt has succeeded'} since{' '}
        <Time at={failingSince} />. Hookline drops the events for this destination until you enable it, or change the
        URL of a webhook.
      </p>
    </div>
  )
}
