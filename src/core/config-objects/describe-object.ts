import type { FailureState } from '../auto-disable/judge-failures.ts'
import type { SettingsProblem } from '../settings/problem.ts'
import type { Settings } from '../settings/settings.ts'
import type { ConfigObject, ObjectDocument } from './config-objects.ts'
import { disablingOf } from './failure-record.ts'
import type { KnownVersion } from './fold.ts'
import { type MaskedDocument, maskDocument } from './mask.ts'
import type { ObjectName } from './object-record.ts'
import type { ReadObject } from './read-object.ts'

export interface OtherFacts {
  /** Problems that follow from other objects. */
  readonly others?: readonly SettingsProblem[] | undefined
  /** The failures of destinations, by id. */
  readonly failures?: ReadonlyMap<string, FailureState> | undefined
}

/** Describes an object of the config topic. */
export function describeTopicObject(
  { version, by, at }: KnownVersion,
  { kind, id, document, problems: own, parsed }: ReadObject,
  { others = [], failures }: OtherFacts = {},
): ConfigObject {
  const problems = [...own, ...others]
  const state = problems.length === 0 ? 'used' : 'excluded'
  const disabledAutomatically =
    parsed.kind === 'destination' ? disablingOf(parsed.destination, failures?.get(id)) : undefined
  const facts = { kind, id, version, state, problems, isConflict: false, disabledAutomatically } as const
  return withMasked({ ...facts, origin: 'api', changedBy: by, changedAt: at }, document)
}

/** Describes an object that the file has. */
export function describeFileObject(
  file: Settings,
  { kind, id }: ObjectName,
  isConflict: boolean,
  failures?: ReadonlyMap<string, FailureState>,
): ConfigObject {
  const list = `${kind}s` as const
  const entry = file.given?.entry(list, id) as ObjectDocument | undefined
  const isHeld = kind === 'destination' && file.destinations.some(each => each.id === id && each.isHeld === true)
  const known = kind === 'destination' ? failures?.get(id) : undefined
  const destination = known && file.destinations.find(each => each.id === id)
  return withMasked(
    {
      disabledAutomatically: destination && disablingOf(destination, known),
      ...{ kind, id, origin: 'file', version: 0, changedBy: undefined, changedAt: undefined, isConflict },
      state: isHeld ? 'excluded' : 'used',
      problems: isHeld ? [heldProblem] : [],
    },
    isHeld ? { id } : (entry ?? { id }),
  )
}

const heldProblem: SettingsProblem = {
  path: [],
  message: 'its file in destinationsFrom is missing or not valid',
  hint: 'see hookline check-config',
}

/** Masks the document at the first access: most callers of a list do not show it. */
function withMasked(facts: Omit<ConfigObject, 'document' | 'fingerprints'>, document: ObjectDocument): ConfigObject {
  let masked: MaskedDocument | undefined
  const once = (): MaskedDocument => (masked ??= maskDocument(facts.kind, document))
  return {
    ...facts,
    get document() {
      return once().document
    },
    get fingerprints() {
      return once().fingerprints
    },
  }
}
