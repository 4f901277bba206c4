import type { JsonObject } from '../../core/message/json.ts'
import { type MessagePreviewed, previewMessage } from '../../core/operator/message-preview.ts'
import { notFound, type ObjectRefusal } from '../../core/operator/object-refusal.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { notInUse, type SendTestDeps } from './send-test-message.ts'

interface Deps extends Pick<SendTestDeps, 'exists' | 'clock'> {
  readonly settings: () => Pick<Settings, 'destinations' | 'sources' | 'payload'>
}

/** Creates the function that previews the requests of a destination for a message. */
export const createPreviewMessage =
  ({ settings, exists, clock }: Deps) =>
  (id: string, body: JsonObject): MessagePreviewed | ObjectRefusal => {
    const { destinations, sources, payload } = settings()
    const destination = destinations.find(each => each.id === id)
    if (destination === undefined || destination.isPlaceholder === true) return exists(id) ? notInUse : notFound
    return previewMessage(destination, body, {
      ...{ at: clock.now(), payload, newId: () => clock.id() },
      hasSource: source => sources.some(each => each.id === source),
    })
  }
