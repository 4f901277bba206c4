import type { KnownVersion } from '../../core/config-objects/fold.ts'
import { type ObjectName, objectKeyOf } from '../../core/config-objects/object-record.ts'
import { type ReadingContext, type ReadObject, readObject } from '../../core/config-objects/read-object.ts'
import type { Logger } from '../../core/ports.ts'
import { formatPath } from '../../core/settings/problem.ts'

const excluded =
  'a configuration object cannot be used, and is excluded: messages for a destination wait, and a source gets no new messages; the others are in force'

/** Reads the values of objects, each version once, and logs the objects that cannot be used. */
export class ObjectReadings {
  readonly #logger: Logger
  #last = new Map<string, { readonly value: string; readonly object: ReadObject }>()
  /** The same by version: to compute and find 10,000 keys would take most of the time of a merge. */
  #ofVersion = new WeakMap<KnownVersion, ReadObject>()
  #context: ReadingContext

  constructor(context: ReadingContext, logger: Logger) {
    this.#context = context
    this.#logger = logger
  }

  get context(): ReadingContext {
    return this.#context
  }

  /** Reads every object again when it is asked for. */
  readAgain(context: ReadingContext): void {
    this.#context = context
    this.#last = new Map()
    this.#ofVersion = new WeakMap()
  }

  /** The object of a version; `undefined` for a deletion. */
  of(known: KnownVersion & ObjectName): ReadObject | undefined {
    const found = this.#ofVersion.get(known)
    if (found !== undefined) return found
    const object = this.#read(known)
    if (object !== undefined) this.#ofVersion.set(known, object)
    return object
  }

  /** A copy of a version has the same value, and is not read again. */
  #read(known: KnownVersion & ObjectName): ReadObject | undefined {
    const { value } = known
    const key = objectKeyOf(known)
    if (value === undefined) {
      this.#last.delete(key)
      return undefined
    }
    const last = this.#last.get(key)
    if (last?.value === value) return last.object
    const object = readObject(known, value, this.#context)
    this.#last.set(key, { value, object })
    this.#logExcluded(object, known)
    return object
  }

  #logExcluded({ kind, id, problems }: ReadObject, { version }: Pick<KnownVersion, 'version'>): void {
    if (problems.length === 0) return
    const shown = problems.map(({ path, message }) => `${formatPath(path)} ${message}`.trim())
    this.#logger.error({ kind, id, version, problems: shown }, excluded)
  }
}
