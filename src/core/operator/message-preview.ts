import { type ExplainedDrop, explainDrop } from '../delivery/explain-drop.ts'
import { createRouting } from '../delivery/route.ts'
import type { Event } from '../message/event.ts'
import type { JsonObject } from '../message/json.ts'
import { normalise } from '../message/normalise.ts'
import type { Destination, PayloadSettings } from '../settings/settings.ts'
import type { EpochMs } from '../time.ts'
import { type ObjectRefusal, objectRefusal, type ShownProblem } from './object-refusal.ts'
import { type NoRequest, type RequestPreview, requestPreviewOf } from './request-preview.ts'

export const noMessageRequestReasons = [
  'disabled',
  'not_selected',
  'filtered',
  'no_destination',
  'unknown_source',
] as const satisfies readonly ExplainedDrop['reason'][]

/** The requests for a message, or why the destination would not get it. */
export type MessagePreview = RequestPreview | NoRequest<ExplainedDrop['reason']>
export type MessagePreviewed = { readonly kind: 'previewed'; readonly preview: MessagePreview }

interface Context {
  readonly at: EpochMs
  readonly payload: PayloadSettings
  /** Whether a source with this id exists. */
  readonly hasSource: (id: string) => boolean
  readonly newId: () => string
}

/**
 * Returns the requests for the message in `body`, or why there are none. `source` may be absent
 * from `body` if the destination has only one source.
 */
export function previewMessage(
  destination: Destination,
  body: JsonObject,
  { at, payload, hasSource, newId }: Context,
): MessagePreviewed | ObjectRefusal {
  const { sources } = destination
  const { source = sources.length === 1 ? sources[0] : undefined, message, ...others } = body
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) {
    const path = unknown.slice(0, 60).toWellFormed()
    return invalid({ path, message: 'is an unknown field', hint: 'use only "source" and "message"' })
  }
  if (typeof source !== 'string') {
    const hint = `specify the source of the message: ${sources.slice(0, 10).join(' or ') || 'the id of a source'}`
    return invalid({ path: 'source', message: 'must be the id of a source', hint })
  }
  const read = normalise(message, { receivedAt: at, sentAt: undefined, newId })
  if (read.kind === 'rejected') return invalid({ path: 'message', message: read.message, hint: `code: ${read.code}` })
  const event: Event = {
    ...{ sourceId: source, destinationId: destination.id, receivedAt: at, canonical: true, origin: undefined },
    message: read.message,
  }
  // Hookline's own sources count as unknown too. Only Hookline sends messages from these sources,
  // and it does not apply the `sources` and filters of destinations to the messages.
  if (!hasSource(source))
    return previewed({
      reason: 'unknown_source',
      message: `Source '${source}' does not exist: use the id of a configured source.`,
    })
  const known = [{ id: source, writeKeys: [] }]
  const drop = explainDrop(destination, event, createRouting({ sources: known, destinations: [destination] }))
  if (drop !== undefined) return previewed({ reason: drop.reason, message: sentenceOf(drop.text) })
  return previewed(requestPreviewOf(destination, read.message, { at, payload }))
}

const previewed = (preview: MessagePreview): MessagePreviewed => ({ kind: 'previewed', preview })

const sentenceOf = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

const invalid = (problem: ShownProblem): ObjectRefusal =>
  objectRefusal('invalid_body', 'The body is not valid: see "problems".', { problems: [problem] })
