import type { JsonText } from '../units.ts'
import { type Canonical, canonicalJson, isObject, type JsonObject } from './json.ts'
import { type CallType, type Rejection, rejection } from './message.ts'

/** Compact UTF-8 bytes of a message as its sender made it, before anything of the batch is merged in. */
export const maxMessageBytes = 32_768

/**
 * Characters of a message's text that are parsed at most: eight times the limit of its compact JSON. A text of `\u` escapes
 * has six for each byte that is compact; what is left is for white space. The length bounds the number of values, too.
 */
export const maxTextLength = 8 * maxMessageBytes

/** The rejection of a text that is too long to be parsed. */
export const textTooLong = rejection(
  'message_too_large',
  `The message has over ${maxTextLength} characters; at most ${maxMessageBytes} bytes of compact JSON are taken: send less in it, or split it.`,
)

/** What a batch says for all of its messages, as it came. */
export interface BatchDefaults {
  readonly batchContext?: unknown
  readonly batchIntegrations?: unknown
  /** Known canonical forms. Those of the defaults are added, for later messages that have only the defaults. */
  readonly known?: Map<object, Canonical>
}

/** Defaults from their canonical texts, for some messages one after the other: what all of them get is made once. */
export function readDefaults(context: string | undefined, integrations: string | undefined): BatchDefaults {
  const { integrations: inner, ...batchContext } = JSON.parse(context ?? '{}') as JsonObject
  const outer: JsonObject | undefined = integrations === undefined ? undefined : JSON.parse(integrations)
  return {
    batchContext: context === undefined ? undefined : batchContext,
    batchIntegrations: merged([objectOf(inner), outer]),
    known: new Map(),
  }
}

const partNames = ['properties', 'traits', 'context', 'integrations'] as const
type PartName = (typeof partNames)[number]

/** The free-form parts of a message. `context` holds no `integrations`, and neither of the two is ever `{}`. */
export interface Parts {
  readonly kind: 'parts'
  readonly texts: { readonly [name in PartName]?: JsonText }
  /** How many `__proto__` members of the message were left out, wherever in it. */
  readonly droppedKeys: number
}

/**
 * The parts as canonical text. Key by key, what the message says hides what its batch says, and `integrations` hides
 * `context.integrations`. Rejected: `too_deep`, `non_finite_number`, `message_too_large`.
 */
export function partsOf(type: CallType, input: JsonObject, batch: BatchDefaults): Parts | Rejection {
  const members = readMembers(input)
  if (members.kind === 'rejected') return members
  const objects = objectsOf(type, input, batch)
  const texts: { [name in PartName]?: JsonText } = {}
  for (const name of partNames) {
    const object = objects[name]
    if (object === undefined) continue
    const canonical = members.canonical.get(object) ?? batch.known?.get(object) ?? canonicalJson(object, name)
    if (canonical.kind === 'rejected') return canonical
    if (object === batch.batchContext || object === batch.batchIntegrations) batch.known?.set(object, canonical)
    const saysNothing = canonical.text === '{}' && (name === 'context' || name === 'integrations')
    if (!saysNothing) texts[name] = canonical.text
  }
  return { kind: 'parts', texts, droppedKeys: members.droppedKeys }
}

function objectsOf(type: CallType, input: JsonObject, batch: BatchDefaults): Record<PartName, JsonObject | undefined> {
  const own = objectOf(input['context'])
  const common = objectOf(batch.batchContext)
  return {
    properties: objectOf(input['properties']),
    // RudderStack's Python puts the traits of an identify into its context.
    traits: objectOf(input['traits']) ?? (type === 'identify' ? objectOf(own?.['traits']) : undefined),
    context: withoutIntegrations(merged([common, own])),
    integrations: merged([
      objectOf(common?.['integrations']),
      objectOf(batch.batchIntegrations),
      objectOf(own?.['integrations']),
      objectOf(input['integrations']),
    ]),
  }
}

/** What stands where an object is meant: PHP writes an empty one as `[]`; anything else is as if absent. */
function objectOf(value: unknown): JsonObject | undefined {
  if (isObject(value)) return value
  return Array.isArray(value) && value.length === 0 ? {} : undefined
}

/** A later layer hides what an earlier one says for the same key; a layer that is alone is handed back itself. */
function merged(layers: readonly (JsonObject | undefined)[]): JsonObject | undefined {
  let all: JsonObject | undefined
  for (const layer of layers) if (layer !== undefined) all = all === undefined ? layer : { ...all, ...layer }
  return all
}

function withoutIntegrations(context: JsonObject | undefined): JsonObject | undefined {
  if (context === undefined || !Object.hasOwn(context, 'integrations')) return context
  const { integrations: _, ...rest } = context
  return rest
}

interface Members {
  readonly kind: 'members'
  /** The canonical form of each member that is an object. */
  readonly canonical: ReadonlyMap<object, Canonical>
  readonly droppedKeys: number
}

/** Checks every member, also those that nobody knows. What the parts need is kept, so that nothing is written twice. */
function readMembers(input: JsonObject): Members | Rejection {
  const canonical = new Map<object, Canonical>()
  let droppedKeys = 0
  // An upper bound, far below the limit for nearly every message: a character takes at most 6 bytes while it may still
  // have to be escaped, 3 once it has been. Only what may be too large is measured.
  let mostBytes = 2
  for (const key in input) {
    const value = input[key]
    mostBytes += 6 * key.length + 4
    if (key === '__proto__') droppedKeys += 1
    else if (typeof value === 'string') mostBytes += 6 * value.length + 2
    else {
      const member = canonicalJson(value, key)
      if (member.kind === 'rejected') return member
      if (isObject(value)) canonical.set(value, member)
      droppedKeys += member.droppedKeys
      mostBytes += 3 * member.text.length
    }
  }
  const bytes = mostBytes > maxMessageBytes ? compactBytes(input) : 0
  if (bytes <= maxMessageBytes) return { kind: 'members', canonical, droppedKeys }
  const advice = `at most ${maxMessageBytes} are taken: send less in it, or split it.`
  return rejection('message_too_large', `The message has ${bytes} bytes of compact JSON; ${advice}`)
}

function compactBytes(input: JsonObject): number {
  // The braces; and each member counts a comma, of which there is one too many.
  let bytes = 1
  for (const key in input) {
    const value = input[key]
    if (key === '__proto__' || value === undefined) continue
    const member = canonicalJson(value)
    if (member.kind === 'canonical')
      bytes += Buffer.byteLength(JSON.stringify(key)) + Buffer.byteLength(member.text) + 2
  }
  return bytes
}
