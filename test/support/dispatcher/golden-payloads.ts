import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Message } from '../../../src/core/message/message.ts'
import { normalise } from '../../../src/core/message/normalise.ts'
import { parseMessageText } from '../../../src/core/message/parse-message-json.ts'
import { Secret } from '../../../src/core/secret.ts'
import { epochMs } from '../../../src/core/time.ts'
import { messageOf, start } from '../builders.ts'

/* The README of the folder describes the golden files. */
const folder = resolve(import.meta.dirname, '../../golden/payloads')
const suffix = '.message.json'
const read = (name: string): string => readFileSync(join(folder, name), 'utf8')

export const goldenSecret = new Secret('shared-s3cret-ü')

/** X-Signature by `<settings>/<case>`, computed with OpenSSL. */
export const goldenSignatures: ReadonlyMap<string, string> = new Map(
  [...read('signatures.sha1').matchAll(/^([0-9a-f]{40}) \*(.+)\.body\.json$/gm)].map(
    ([, hex, name]) => [name, hex] as [string, string],
  ),
)

export interface GoldenPayload {
  /** `<settings>/<case>`. `<settings>` is the payload setting under test. */
  readonly name: string
  readonly message: Message
  readonly body: string
}

export const goldenPayloads: readonly GoldenPayload[] = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith(suffix))
  .map(name => name.slice(0, -suffix.length))
  .sort()
  .map(name => ({ name, message: messageFrom(read(`${name}${suffix}`)), body: read(`${name}.body.json`) }))

/**
 * Normalises a message as an SDK sends it, but not a `delete` message, which comes from a deletion
 * request.
 */
function messageFrom(text: string): Message {
  const parsed = parseMessageText(text)
  if (parsed.kind === 'rejected') throw new TypeError(parsed.message)
  const input = parsed.value as Record<string, string>
  if (input['type'] === 'delete') return deletionFrom(input)
  const normalised = normalise(input, { receivedAt: start, sentAt: undefined, newId: () => 'id-1' })
  if (normalised.kind === 'rejected') throw new TypeError(normalised.message)
  return normalised.message
}

function deletionFrom({ userId, anonymousId, traits, context, timestamp }: Record<string, string>): Message {
  return {
    ...messageOf({ type: 'delete', event: undefined, userId, anonymousId }),
    timestamp: epochMs(Date.parse(timestamp as string)),
    traits: traits && (JSON.stringify(traits) as Message['traits']),
    context: context && (JSON.stringify(context) as Message['context']),
  } as Message
}
