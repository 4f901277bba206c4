import type { ConfigObject, ConfigObjects, ObjectDocument } from '../../core/config-objects/config-objects.ts'
import { responseTo } from '../../core/operator/object-change-response.ts'
import { definedInFile, notFound, type ObjectRefusal } from '../../core/operator/object-refusal.ts'
import type { ObjectChanged, ObjectsApi, ObjectTarget, Switch } from '../../core/operator/objects-api.ts'

type Answer = ObjectChanged | ObjectRefusal

interface Deps {
  readonly objects: Pick<ConfigObjects, 'get' | 'enableAgain'>
  readonly change: (
    target: ObjectTarget,
    next: (current: ObjectDocument | undefined) => ObjectDocument | undefined,
  ) => Promise<Answer>
}

/** Pauses, resumes, enables or disables an object. */
export function createSwitchObject({ objects, change }: Deps): ObjectsApi['switch'] {
  async function switchTo(target: ObjectTarget, to: Switch): Promise<Answer> {
    const answer = absentIsNotFound(await change(target, current => current && switched(current, to)))
    if (to !== 'enable' || target.kind !== 'destination') return answer
    const isOfFile = answer === definedInFile && mayBeEnabledAgain(objects.get('destination', target.id), target)
    return answer.kind === 'changed' || isOfFile ? enableAgain(target, answer) : answer
  }

  /**
   * Enables a destination that Hookline has disabled automatically. `before` is the answer to the
   * preceding change of its document.
   */
  async function enableAgain({ id, by, precondition }: ObjectTarget, before: Answer): Promise<Answer> {
    const outcome = await objects.enableAgain(id, by)
    const isDone = outcome.kind === 'unchanged' && before.kind === 'changed'
    return isDone ? before : responseTo(outcome, precondition)
  }

  return switchTo
}

/**
 * Returns `notFound` in place of `precondition_failed` if the object does not exist. For requests
 * that never create an object.
 */
export const absentIsNotFound = (answer: ObjectChanged | ObjectRefusal): ObjectChanged | ObjectRefusal =>
  answer.kind === 'refused' && answer.code === 'precondition_failed' && answer.version === undefined ? notFound : answer

const settings = {
  pause: { key: 'paused', value: true, standard: false },
  resume: { key: 'paused', value: false, standard: false },
  enable: { key: 'enabled', value: true, standard: true },
  disable: { key: 'enabled', value: false, standard: true },
} as const satisfies Record<Switch, object>

/**
 * Returns the document unchanged if the key already has the value; then no new version is written.
 */
function switched(document: ObjectDocument, to: Switch): ObjectDocument {
  const { key, value, standard } = settings[to]
  return (document[key] ?? standard) === value ? document : { ...document, [key]: value }
}

const mayBeEnabledAgain = (found: ConfigObject | undefined, { precondition }: ObjectTarget): boolean =>
  found?.origin === 'file' &&
  found.document['enabled'] !== false &&
  precondition.kind !== 'absent' &&
  (precondition.kind !== 'version' || precondition.version === found.version)
