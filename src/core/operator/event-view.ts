import { isTooDeep } from '../message/canonical-json.ts'
import type { Event } from '../message/event.ts'
import { isoOf } from '../message/timestamp.ts'

/** The JSON document of an event that `hookline dead-letters --json` and the operator API show. */
export function eventViewOf(event: Event): object {
  const { message, receivedAt } = event
  const parts = (['properties', 'traits', 'context', 'integrations'] as const).map(name => [
    name,
    parsed(message[name]),
  ])
  return {
    ...event,
    receivedAt: isoOf(receivedAt),
    message: { ...message, timestamp: isoOf(message.timestamp), ...Object.fromEntries(parts) },
  }
}

/**
 * Parses JSON. Text that another producer may write is returned as it is: invalid JSON, and JSON
 * with more than 100 levels, because `JSON.stringify` fails on values with thousands of levels.
 */
function parsed(text: string | undefined): unknown {
  try {
    const value: unknown = text === undefined ? undefined : JSON.parse(text)
    return isTooDeep(value) ? text : value
  } catch {
    return text
  }
}
