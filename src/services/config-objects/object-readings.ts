import type { KnownVersion } from '../../core/config-objects/fold.ts'
import { objectKeyOf } from '../../core/config-objects/object-record.ts'
import { type ReadingContext, type ReadObject, readObject } from '../../core/config-objects/read-object.ts'
import type { Logger } from '../../core/ports.ts'
import { formatPath } from '../../core/settings/problem.ts'

const excluded =
  'a configuration object cannot be used, and is excluded: messages for a destination wait, and a source gets no new messages; the others are in force'

/** Reads the values of objects, each version once, and logs the objects that cannot be used. */
export class ObjectReadings {
  readonly #logger: Logger
  #last = new Map<string, { readonly value: string; readonly object: ReadObject }>()
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
  }

  /** The object of a version; `undefined` for a deletion. */
  of(known: KnownVersion): ReadObject | undefined {
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

  #logExcluded({ kind, id, problems }: ReadObject, { version }: KnownVersion): void {
    if (problems.length === 0) return
    const shown = problems.map(({ path, message }) => `${formatPath(path)} ${message}`.trim())
    this.#logger.error({ kind, id, version, problems: shown }, excluded)
  }
}
