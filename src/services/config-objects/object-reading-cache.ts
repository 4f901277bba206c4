import { isObjectRecord, type ObjectName, objectKeyOf } from '../../core/config-objects/object-record.ts'
import type { KnownVersion } from '../../core/config-objects/objects-from-topic.ts'
import { type ReadingContext, type ReadObject, readObject } from '../../core/config-objects/read-object.ts'
import type { Logger } from '../../core/ports.ts'
import { problemLine } from '../../core/settings/settings-problem.ts'

const excluded =
  'hookline cannot use a destination or source that was created with the operator API (see "kind", "id" and "problems"): correct the problems; until then, messages for the destination wait, or the collector rejects the messages of the source'

/**
 * The last decoded record of an object, and the decoded `object`. The `object` also depends on
 * `offset`, because it has the offset at which each write key of a source was added (`keyOffsets`).
 */
interface Last extends Pick<KnownVersion, 'createdAt' | 'offset'> {
  readonly value: string
  readonly object: ReadObject
}

/** Decodes each record of an object once, and logs the objects that cannot be used. */
export class ObjectReadingCache {
  readonly #logger: Logger
  #last = new Map<string, Last>()
  /**
   * A faster index of the objects in `#last`. With 10,000 objects, look-ups in `#last` would take
   * most of the time in which the objects are merged with the configuration file.
   */
  #ofVersion = new WeakMap<KnownVersion, ReadObject>()
  #context: ReadingContext

  constructor(context: ReadingContext, logger: Logger) {
    this.#context = context
    this.#logger = logger
  }

  get context(): ReadingContext {
    return this.#context
  }

  /** Sets new encryption keys and settings, so that each object is decoded again when needed. */
  readAgain(context: ReadingContext): void {
    this.#context = context
    this.#last = new Map()
    this.#ofVersion = new WeakMap()
  }

  /** The object in a record; `undefined` for a deletion, a failure state, or no record. */
  of(known: KnownVersion | undefined): ReadObject | undefined {
    if (known === undefined || !isObjectRecord(known)) return undefined
    const found = this.#ofVersion.get(known)
    if (found !== undefined) return found
    const object = this.#read(known)
    if (object !== undefined) this.#ofVersion.set(known, object)
    return object
  }

  /**
   * Decodes a record of an object. Returns the last result if `value`, `createdAt` and `offset`
   * have not changed.
   */
  #read(known: KnownVersion & ObjectName): ReadObject | undefined {
    const { value, createdAt, offset } = known
    const key = objectKeyOf(known)
    if (value === undefined) {
      this.#last.delete(key)
      return undefined
    }
    const last = this.#last.get(key)
    if (last?.value === value && last.createdAt === createdAt && last.offset === offset) return last.object
    const object = readObject(known, value, this.#context)
    this.#last.set(key, { value, createdAt, offset, object })
    this.#logExcluded(object, known)
    return object
  }

  #logExcluded({ kind, id, problems }: ReadObject, { version }: Pick<KnownVersion, 'version'>): void {
    if (problems.length === 0) return
    const shown = problems.map(problemLine)
    this.#logger.error({ kind, id, version, problems: shown }, excluded)
  }
}
