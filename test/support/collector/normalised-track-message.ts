import type { JsonText } from '../../../src/core/message/canonical-json-text.ts'
import type { Message } from '../../../src/core/message/message.ts'
import { epochMs } from '../../../src/core/time.ts'

/** A track message as `normalise` makes it. */
export const trackMessage = (messageId: string, override: Partial<Message> = {}): Message => ({
  type: 'track',
  messageId,
  userId: 'user-1',
  anonymousId: undefined,
  groupId: undefined,
  previousId: undefined,
  event: 'Order Completed',
  name: undefined,
  category: undefined,
  timestamp: epochMs(Date.parse('2026-03-01T00:00:00.000Z')),
  properties: '{"total":12}' as JsonText,
  traits: undefined,
  context: undefined,
  integrations: undefined,
  ...override,
})
