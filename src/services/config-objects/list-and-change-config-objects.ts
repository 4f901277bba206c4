import type { AllObjects } from '../../core/config-objects/check-object-references.ts'
import type { ChangeOutcome, ChangeRequest, ConfigObjects } from '../../core/config-objects/config-objects.ts'
import { describeTopicObject } from '../../core/config-objects/describe-config-object.ts'
import type { Merged } from '../../core/config-objects/merge-objects.ts'
import { type ObjectName, type ObjectRecord, objectKeyOf } from '../../core/config-objects/object-record.ts'
import { type ChangePlan, mayBeOutdated, planChange } from '../../core/config-objects/plan-change.ts'
import { readObject } from '../../core/config-objects/read-object.ts'
import type { NewNonce } from '../../core/config-objects/seal.ts'
import type { EncryptionKey } from '../../core/encryption-key.ts'
import type { Clock } from '../../core/ports.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { endFailures } from './change-failure-state.ts'
import { ChangesInProgress } from './changes-in-progress.ts'
import { createEnableAgain } from './enable-again.ts'
import { ObjectList } from './file-and-topic-object-list.ts'
import type { ObjectStore } from './object-store.ts'
import type { ObjectWriter } from './object-writer.ts'
import { writeChange } from './write-change-or-undo-it.ts'

/**
 * Maximum number of tries of a change with `expected: any`. A try fails when another process writes
 * first.
 */
const maxTries = 100

export interface ConfigTopic {
  readonly store: ObjectStore
  readonly writer: Pick<ObjectWriter, 'write'>
}

interface Deps {
  /**
   * `undefined` without a config topic: objects of the configuration file are then listed, but no
   * object can be changed.
   */
  readonly topic: ConfigTopic | undefined
  /** Returns the settings of the configuration file. */
  readonly file: () => Settings
  /** Returns the settings in use, which may lack the changes of the last half second. */
  readonly merged: () => Merged
  /** Returns settings with all changes that this process has read. */
  readonly latest: () => Merged
  readonly clock: Pick<Clock, 'now' | 'id'>
  readonly newNonce: NewNonce
}

/** The configuration objects for the operator API. */
export function createConfigObjects({ topic, file, merged, latest, clock, newNonce }: Deps): ConfigObjects {
  const list = new ObjectList({ store: topic?.store, file, merged })
  /**
   * The last change in progress of each object, by `objectKeyOf`. The next change of the object
   * waits for it.
   */
  const queues = new Map<string, Promise<unknown>>()
  const inProgress = new ChangesInProgress()
  const allIn = ({ object, objects }: ObjectStore): AllObjects => ({ file: file(), object, objects })

  async function change(request: ChangeRequest, { store, writer }: ConfigTopic): Promise<ChangeOutcome> {
    let isCaughtUp = false
    for (let tries = 1; ; tries++) {
      const [key] = store.reading.keys
      if (key === undefined)
        return { kind: 'unavailable', detail: 'this process has no key from operator.encryptionKeyFile' }
      const plan = plannedFrom(request, store, key)
      if (!isCaughtUp && mayBeOutdated(plan, request)) {
        if (!(await store.caughtUp()))
          return { kind: 'unavailable', detail: 'this process cannot read the config topic' }
        isCaughtUp = true
        continue
      }
      if (plan.kind === 'unchanged') return { kind: 'unchanged', object: list.get(request)! }
      if (plan.kind === 'refused') return { kind: 'refused', problems: plan.problems }
      if (plan.kind !== 'write') return plan
      if (request.dryRun === true) return possibleWith(plan.record)
      const conflicting = inProgress.conflicting(plan.references)
      if (conflicting !== undefined) {
        await conflicting
        continue
      }
      const all = () => allIn(store)
      const result = await inProgress.during(plan.references, () => writeChange({ store, writer, all, clock }, plan))
      if (result.kind === 'applied') {
        if (plan.record.action === 'deleted') await endFailures({ store, writer, clock }, plan.record)
        return outcomeOf(result.record, store, latest)
      }
      if (result.kind === 'refused') return result
      if (result.kind === 'failed') return { kind: 'unavailable', detail: result.detail }
      // This process has read its own record back, so it has also read all earlier records.
      isCaughtUp = true
      if (request.isRenewal !== true && request.expected.kind !== 'any')
        return { kind: 'conflict', version: versionOf(request, store) }
      if (tries >= maxTries)
        return { kind: 'unavailable', detail: 'in each of 100 tries, another process changed the object concurrently' }
    }
  }

  const plannedFrom = (request: ChangeRequest, store: ObjectStore, key: EncryptionKey): ChangePlan =>
    planChange(request, {
      all: allIn(store),
      known: store.known(request),
      current: store.object(request),
      now: clock.now(),
      writeId: clock.id(),
      ...{ key, context: store.reading.context, newNonce },
    })

  return {
    list: kind => list.list(kind),
    get: (kind, id) => list.get({ kind, id }),
    async change(request) {
      if (topic === undefined)
        return list.get(request)?.origin === 'file' ? { kind: 'defined_in_file' } : { kind: 'disabled' }
      const key = objectKeyOf(request)
      const earlier = queues.get(key) ?? Promise.resolve()
      const own = earlier.then(() => change(request, topic))
      const ended = own.catch(() => undefined)
      queues.set(key, ended)
      try {
        return await own
      } finally {
        if (queues.get(key) === ended) queues.delete(key)
      }
    },
    enableAgain: createEnableAgain({ topic, list, clock }),
    changes: since => topic?.store.changes(since) ?? { changes: [], isPartial: false },
  }
}

const versionOf = (name: ObjectName, store: ObjectStore): number | undefined =>
  store.object(name) === undefined ? undefined : store.known(name)?.version

const possibleWith = ({ action, fields }: ObjectRecord): ChangeOutcome => ({
  kind: 'possible',
  created: action === 'created',
  changedFields: fields,
})

/**
 * Returns the outcome of an applied change. The outcome has the object as in `record`, even if a
 * later record is in force. Only the problems that depend on other objects, and the state of
 * automatic disabling, are current.
 */
function outcomeOf(record: ObjectRecord & ObjectName, store: ObjectStore, latest: () => Merged): ChangeOutcome {
  const { value, action, fields } = record
  const { failures } = store
  const isInForce = store.known(record)?.writeId === record.writeId
  const decoded = () => (value === undefined ? undefined : readObject(record, value, store.reading))
  const read = isInForce ? store.object(record) : decoded()
  const problemsFromOthers = read && latest().problems.get(objectKeyOf(record))
  const object = read && describeTopicObject(record, read, { problemsFromOthers, failures })
  return { kind: 'changed', object, created: action === 'created', changedFields: fields }
}
