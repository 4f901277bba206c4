import { keyOf } from '../message/event.ts'
import { isObject } from '../message/json.ts'
import type { Message } from '../message/message.ts'
import { parseField } from '../message/parse-message-json.ts'
import { toIsoTimestamp } from '../message/timestamp.ts'
import { pathFields, pathParts } from '../settings/schema-of-event-filter.ts'

type Part = (typeof pathParts)[number]

/**
 * The parsed path of a filter condition. A part is a JSON object of the message, for example
 * `properties`. `names` are the nested members that lead to the value within the part.
 */
export type FieldPath =
  | { readonly kind: 'field'; readonly field: (typeof pathFields)[number] }
  | { readonly kind: 'part'; readonly part: Part; readonly names: readonly string[] }

/** @throws TypeError for a path that the configuration schema does not allow */
export function parseFieldPath(path: string): FieldPath {
  const [root, ...names] = path.split('.')
  const field = pathFields.find(each => each === root)
  if (field !== undefined) return { kind: 'field', field }
  const part = pathParts.find(each => each === root)
  if (part === undefined) throw new TypeError(`not a field of a message: ${path}`)
  return { kind: 'part', part, names }
}

/**
 * Maximum number of characters of an event name that are compared with patterns, to limit the CPU
 * time.
 */
const maxComparedName = 1_000

/**
 * The fields of a message that filters can test: those of the webhook request, with two
 * differences. An alias has `userId` and `previousId` instead of `User ID` and `Previous ID`.
 * `anonymousId` is present even if the request omits it.
 */
export class FilterFields {
  readonly #message: Message
  readonly #parsed = new Map<Part, unknown>()

  constructor(message: Message) {
    this.#message = message
  }

  get type(): Message['type'] {
    return this.#message.type
  }

  /** The first 1,000 characters of a track message's event name; `undefined` for other types. */
  get eventName(): string | undefined {
    return this.#message.type === 'track' ? this.#message.event?.slice(0, maxComparedName) : undefined
  }

  /** The text that identifies the user (`keyOf`); the message id when the message has no user. */
  get userKey(): string {
    return keyOf(this.#message) ?? this.#message.messageId
  }

  /** The value at a path; `undefined` when it is absent or null. */
  valueAt(path: FieldPath): unknown {
    return path.kind === 'field' ? this.#fieldOf(path.field) : this.#memberOf(path.part, path.names)
  }

  #fieldOf(field: (typeof pathFields)[number]): string | undefined {
    const message = this.#message
    const { type } = message
    switch (field) {
      case 'type':
        return type
      case 'userId':
        return message.userId
      case 'anonymousId':
        return message.anonymousId
      case 'groupId':
        return type === 'group' ? message.groupId : undefined
      case 'previousId':
        return type === 'alias' ? message.previousId : undefined
      case 'event':
        return type === 'track' ? message.event : undefined
      case 'name':
        return type === 'screen' ? message.name : undefined
      case 'timestamp':
        return toIsoTimestamp(message.timestamp)
    }
  }

  #memberOf(part: Part, names: readonly string[]): unknown {
    let value = this.#partOf(part)
    for (const name of names) {
      // Every JavaScript object also inherits members, for example `constructor`, which the message
      // does not contain.
      if (!isObject(value) || !Object.hasOwn(value, name)) return this.#nameOrCategory(part, names)
      value = value[name]
    }
    return value ?? this.#nameOrCategory(part, names)
  }

  /**
   * Returns the name of a page, or the category of a page or screen. The body of a webhook request
   * has these values in `properties`.
   */
  #nameOrCategory(part: Part, names: readonly string[]): string | undefined {
    const { type, name, category } = this.#message
    if (part !== 'properties' || names.length !== 1 || (type !== 'page' && type !== 'screen')) return undefined
    if (names[0] === 'category') return category
    return names[0] === 'name' && type === 'page' ? name : undefined
  }

  #partOf(part: Part): unknown {
    if (!this.#parsed.has(part)) this.#parsed.set(part, parsedPart(part, this.#message))
    return this.#parsed.get(part)
  }
}

/**
 * Parses a part of the message; `undefined` when the body of this message type does not have it.
 */
function parsedPart(part: Part, message: Message): unknown {
  const text = message[part]
  if (text === undefined || !partsOfBody[message.type].includes(part)) return undefined
  const parsed = parseField(text, part)
  // The text can be invalid JSON if a producer other than Hookline has marked the event as
  // `canonical`.
  return parsed.kind === 'parsed' ? parsed.value : undefined
}

const partsOfBody: Readonly<Record<Message['type'], readonly Part[]>> = {
  identify: ['traits', 'context'],
  track: ['properties', 'context'],
  page: ['properties', 'context'],
  screen: ['properties', 'context'],
  group: ['traits', 'context'],
  alias: ['context'],
  delete: [],
}
