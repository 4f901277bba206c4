import type { ConfigObject, ObjectKind } from '../../core/config-objects/config-objects.ts'
import { describeFileObject, describeTopicObject } from '../../core/config-objects/describe-config-object.ts'
import { isInFile, type Merged } from '../../core/config-objects/merge-objects.ts'
import { type ObjectName, objectKeyOf } from '../../core/config-objects/object-record.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { ObjectStore } from './object-store.ts'

interface Deps {
  /** `undefined` when the installation has no config topic. */
  readonly store: Pick<ObjectStore, 'objects' | 'object' | 'known' | 'failures' | 'revision'> | undefined
  readonly file: () => Settings
  readonly merged: () => Merged
}

/**
 * Lists the objects of the configuration file and of the config topic. Lists are cached until a
 * change.
 */
export class ObjectList {
  readonly #deps: Deps
  readonly #lists = new Map<
    ObjectKind,
    { readonly merged: Merged; readonly revision: number; readonly list: readonly ConfigObject[] }
  >()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** All objects of a kind, sorted by id. */
  list(kind: ObjectKind): readonly ConfigObject[] {
    const merged = this.#deps.merged()
    const revision = this.#deps.store?.revision ?? 0
    const last = this.#lists.get(kind)
    if (last?.merged === merged && last.revision === revision) return last.list
    const list = [...this.#all(kind)].sort((a, b) => (a.id < b.id ? -1 : 1))
    this.#lists.set(kind, { merged, revision, list })
    return list
  }

  get(name: ObjectName): ConfigObject | undefined {
    const { store, file, merged } = this.#deps
    const known = store?.known(name)
    const object = store?.object(name)
    const [key, failures] = [objectKeyOf(name), store?.failures]
    const { problems, problemsInFile } = merged()
    if (isInFile(file(), name))
      return describeFileObject(file(), name, object !== undefined, {
        problemsFromOthers: problemsInFile.get(key),
        failures,
      })
    return known && object && describeTopicObject(known, object, { problemsFromOthers: problems.get(key), failures })
  }

  *#all(kind: ObjectKind): Generator<ConfigObject> {
    const { store, file, merged } = this.#deps
    const inFile = new Set((kind === 'source' ? file().sources : file().destinations).map(({ id }) => id))
    const { problems, problemsInFile } = merged()
    const hidden = new Set<string>()
    for (const object of store?.objects() ?? []) {
      if (object.kind !== kind) continue
      const known = store?.known(object)
      if (inFile.has(object.id)) hidden.add(object.id)
      else if (known !== undefined)
        yield describeTopicObject(known, object, {
          problemsFromOthers: problems.get(objectKeyOf(object)),
          failures: store?.failures,
        })
    }
    for (const id of inFile) {
      const problemsFromOthers = problemsInFile.get(objectKeyOf({ kind, id }))
      yield describeFileObject(file(), { kind, id }, hidden.has(id), { problemsFromOthers, failures: store?.failures })
    }
  }
}
