import { parseDeliveryState } from '../delivery/delivery-state.ts'
import { parseDeadLetter } from '../delivery/parse-dead-letter.ts'
import { decidedRefusals, type ReplayContext, replayTargetOf } from '../delivery/replay-decision.ts'
import { type Event, normaliseEvent } from '../message/event.ts'
import type { LogRecord } from '../ports.ts'
import type { PayloadSettings } from '../settings/settings.ts'
import type { EpochMs } from '../time.ts'
import { type NoRequest, type RequestPreview, requestPreviewOf } from './request-preview.ts'

export const noReplayRequestReasons = [...decidedRefusals, 'excluded', 'audience_change', 'no_delivery'] as const
type NoReplayRequestReason = (typeof noReplayRequestReasons)[number]

/** What a replay of a dead letter would send now. */
export type ReplayPreview = RequestPreview | NoRequest<NoReplayRequestReason>

interface Configuration {
  readonly context: ReplayContext
  readonly payload: PayloadSettings
  readonly now: EpochMs
}

/**
 * Previews the requests of a replay with the present configuration. `event` is `undefined` when it
 * cannot be decoded.
 */
export function replayPreviewOf(
  record: LogRecord,
  event: Event | undefined,
  { context, payload, now }: Configuration,
): ReplayPreview {
  const state = parseDeliveryState(record.headers)
  const delivered = state === undefined ? undefined : event
  const target = replayTargetOf(record, parseDeadLetter(record), context, now, delivered)
  if (target.kind === 'refused') return noRequest(target.reason)
  if (target.kind === 'resend') return noRequest('audience_change')
  if (state === undefined || delivered === undefined) return noRequest('no_delivery')
  const destination = context.routing.destinations.get(state.destination)
  if (destination === undefined || destination.isPlaceholder === true) return noRequest('excluded')
  const read = delivered.canonical
    ? { kind: 'event' as const, event: delivered }
    : normaliseEvent(delivered, () => state.messageId)
  if (read.kind === 'rejected') return noRequest('unreadable')
  return requestPreviewOf(destination, read.event.message, { at: now, payload })
}

const noRequest = (reason: NoReplayRequestReason): ReplayPreview => ({ reason, message: texts[reason] })

const texts: Readonly<Record<NoReplayRequestReason, string>> = {
  unknown_destination:
    'Hookline does not find the destination, so a replay sends nothing. If the destination no longer exists, create it again with the same id, then replay. If Hookline cannot read the configuration of the destination, correct this configuration.',
  disabled: 'The destination is disabled, so a replay sends nothing: enable it, then replay.',
  not_connected:
    'The source of the event is no longer connected to the destination, so a replay sends nothing: add the source to "sources" of the destination, or replay with "evenDisconnected".',
  deletion_expired:
    'The deletion of the user is too old to be replayed, so a replay sends nothing: delete the user again.',
  truncated:
    'The dead letter has only the first 64 KiB of the original record, so it cannot be replayed. The original topic keeps the whole record until its retention ends (events topic: 7 days, retry topic: 3 days).',
  unreadable:
    'Hookline cannot decode the dead letter, so a replay without "evenDisconnected" sends nothing: check that the schema registry responds, and has the schema of the event. A replay with "evenDisconnected" can work, because it does not decode the event.',
  excluded:
    'Hookline does not use the destination now, because its document has problems. A replayed delivery waits until you correct the problems.',
  audience_change:
    'The dead letter has the audience membership or computed trait of a user. A replay sends the current value instead.',
  no_delivery:
    'Hookline dead-lettered the event before it selected destinations. A replay writes the event to the events topic again, and Hookline then selects the destinations.',
}
