import type { ConfigObject, DestinationStatus } from '../../api/response-types.ts'
import { countText, countWithNoun } from '../../components/number-text.ts'
import { Panel } from '../../components/panel.tsx'
import { sourcesOf } from '../destinations/document-sources-and-urls.ts'
import { firstDeliveryOf } from './first-delivery.ts'

export interface FirstDeliveryPanelProps {
  readonly object: ConfigObject
  readonly status: DestinationStatus | undefined
}

/** The progress of a new destination towards its first delivery. */
export function FirstDeliveryPanel({ object, status }: FirstDeliveryPanelProps) {
  const { kind, delivered, failed, deadLettered } = firstDeliveryOf(status)
  const sources = sourcesOf(object).join(', ')
  return (
    <Panel title="First delivery" isWide>
      <div class={`first-delivery first-delivery-${kind}`} role="status">
        {kind === 'delivered' && (
          <p>
            <strong>The first delivery has arrived.</strong> The destination has accepted{' '}
            {countWithNoun(delivered, 'event')} in the last hour.
          </p>
        )}
        {kind === 'failing' && (
          <p>
            <strong>No delivery has succeeded in the last hour.</strong> Failed attempts: {countText(failed)}.
            Dead-lettered events: {countText(deadLettered)}. See the last failed attempts below.
          </p>
        )}
        {kind === 'waiting' && (
          <p>
            <strong>Waiting for the first event.</strong> If the destination is enabled, Hookline delivers the next
            event that comes from its sources ({sources}) and passes its filter. To check the endpoint now, send a test
            message.
          </p>
        )}
        {kind === 'unknown' && (
          <p>
            <strong>The destination was created.</strong> The operator service did not send the delivery results. To
            check the endpoint, send a test message.
          </p>
        )}
      </div>
    </Panel>
  )
}
