import { type Canonical, canonicalJson } from './canonical-json.ts'
import type { JsonText } from './canonical-json-text.ts'
import { isObject, type JsonObject } from './json.ts'
import type { CallType } from './message.ts'
import { type Rejection, rejection } from './message-rejection.ts'
import { maxMessageBytes } from './message-size-limits.ts'

/** The parsed members of a batch that apply to all its messages. */
export interface BatchDefaults {
  readonly batchContext?: unknown
  readonly batchIntegrations?: unknown
  /**
   * Caches the canonical forms of the batch's `context` and `integrations` for all its messages.
   */
  readonly canonicalCache?: Map<object, Canonical>
}

/** Parses the `context` and `integrations` of a batch once for all its messages. */
export function readDefaults(context: string | undefined, integrations: string | undefined): BatchDefaults {
  const { integrations: inner, ...batchContext } = JSON.parse(context ?? '{}') as JsonObject
  const outer: JsonObject | undefined = integrations === undefined ? undefined : JSON.parse(integrations)
  return {
    batchContext: context === undefined ? undefined : batchContext,
    batchIntegrations: merged([objectOf(inner), outer]),
    canonicalCache: new Map(),
  }
}

const partNames = ['properties', 'traits', 'context', 'integrations'] as const
type PartName = (typeof partNames)[number]
const isPartName = (key: string): key is PartName => (partNames as readonly string[]).includes(key)

/**
 * The free-form parts of a message. Empty `context` and `integrations` are omitted. `context` never
 * contains `integrations`.
 */
export interface Parts {
  readonly kind: 'parts'
  readonly texts: { readonly [name in PartName]?: JsonText }
  /** Number of `__proto__` members that were removed at any depth of the message. */
  readonly droppedKeys: number
}

/**
 * Returns the parts as canonical text. For each key, the message overrides its batch, and
 * `integrations` overrides `context.integrations`.
 */
export function partsOf(type: CallType, input: JsonObject, batch: BatchDefaults, addedBytes = 0): Parts | Rejection {
  const members = readMembers(input, addedBytes)
  if (members.kind === 'rejected') return members
  const objects = objectsOf(type, input, batch)
  const texts: { [name in PartName]?: JsonText } = {}
  for (const name of partNames) {
    const object = objects[name]
    if (object === undefined) continue
    const canonical = members.canonical.get(object) ?? batch.canonicalCache?.get(object) ?? canonicalJson(object, name)
    if (canonical.kind === 'rejected') return canonical
    if (object === batch.batchContext || object === batch.batchIntegrations)
      batch.canonicalCache?.set(object, canonical)
    const isOmitted = canonical.text === '{}' && (name === 'context' || name === 'integrations')
    if (!isOmitted) texts[name] = canonical.text
  }
  return { kind: 'parts', texts, droppedKeys: members.droppedKeys }
}

function objectsOf(type: CallType, input: JsonObject, batch: BatchDefaults): Record<PartName, JsonObject | undefined> {
  const own = objectOf(input['context'])
  const common = objectOf(batch.batchContext)
  return {
    properties: objectOf(input['properties']),
    // RudderStack's Python library sends the traits of an identify message in its context.
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

/**
 * Returns the value if it is an object. PHP writes an empty object as `[]`, so `[]` becomes `{}`.
 */
function objectOf(value: unknown): JsonObject | undefined {
  if (isObject(value)) return value
  return Array.isArray(value) && value.length === 0 ? {} : undefined
}

/**
 * Merges objects: for each key, the last object that has it wins. A single object is not copied.
 */
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
  /** Canonical form of each member that is an object. */
  readonly canonical: ReadonlyMap<object, Canonical>
  readonly droppedKeys: number
}

/**
 * Checks the size of the message, and that `canonicalJson` accepts every member, even unknown ones.
 */
function readMembers(input: JsonObject, addedBytes: number): Members | Rejection {
  const canonical = new Map<object, Canonical>()
  let droppedKeys = 0
  // A cheap upper bound of the size: a character takes at most 6 bytes, or 3 in a text that is
  // already JSON.
  let maxBytes = 2
  for (const key in input) {
    const value = input[key]
    maxBytes += 6 * key.length + 4
    if (key === '__proto__') droppedKeys += 1
    else if (typeof value === 'string') maxBytes += 6 * value.length + 2
    else {
      const member = canonicalJson(value, isPartName(key) ? key : 'A field of the message')
      if (member.kind === 'rejected') return member
      if (isObject(value)) canonical.set(value, member)
      droppedKeys += member.droppedKeys
      maxBytes += 3 * member.text.length
    }
  }
  const bytes = maxBytes > maxMessageBytes ? compactBytes(input) - addedBytes : 0
  if (bytes <= maxMessageBytes) return { kind: 'members', canonical, droppedKeys }
  const advice = `the limit is ${maxMessageBytes} bytes: remove fields, or split the message.`
  return rejection('message_too_large', `The message has ${bytes} bytes of compact JSON; ${advice}`)
}

function compactBytes(input: JsonObject): number {
  // 2 bytes for the braces, minus 1 because the last member needs no comma.
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
