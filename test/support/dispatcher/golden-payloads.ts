import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseJson } from '../../../src/core/message/json.ts'
import type { Message } from '../../../src/core/message/message.ts'
import { normalise } from '../../../src/core/message/normalise.ts'
import { Secret } from '../../../src/core/secret.ts'
import { epochMs } from '../../../src/core/time.ts'
import { messageOf, start } from '../builders.ts'

/*
 * The golden files. The README of the folder describes them, and how the signatures were computed.
 */
const folder = resolve(import.meta.dirname, '../../golden/payloads')
const suffix = '.message.json'
const read = (name: string): string => readFileSync(join(folder, name), 'utf8')

export const goldenSecret = new Secret('shared-s3cret-ü')

/** The values of X-Signature by `<settings>/<case>`. They were computed with OpenSSL. */
export const goldenSignatures: ReadonlyMap<string, string> = new Map(
  [...read('signatures.sha1').matchAll(/^([0-9a-f]{40}) \*(.+)\.body\.json$/gm)].map(
    ([, hex, name]) => [name, hex] as [string, string],
  ),
)

export interface GoldenPayload {
  /**
   * Path of a case, without the suffix of its files: `<settings>/<case>`. The folder `<settings>`
   * has the name of the payload setting that the case tests.
   */
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
 * Parses a message as an SDK sends it, and normalises it. A `delete` message is not normalised,
 * because a deletion request creates it, not an SDK.
 */
function messageFrom(text: string): Message {
  const parsed = parseJson(text)
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
