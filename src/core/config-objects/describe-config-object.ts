import type { FailureState } from '../auto-disable/judge-failures.ts'
import type { Settings } from '../settings/settings.ts'
import type { SettingsProblem } from '../settings/settings-problem.ts'
import type { ConfigObject, ObjectDocument } from './config-objects.ts'
import { disablingOf } from './destination-failure-record.ts'
import { type MaskedDocument, maskDocument } from './mask.ts'
import type { ObjectName } from './object-record.ts'
import type { KnownVersion } from './objects-from-topic.ts'
import type { ReadObject } from './read-object.ts'

export interface OtherFacts {
  /** The object's problems that depend on other objects, for example an unknown source. */
  readonly problemsFromOthers?: readonly SettingsProblem[] | undefined
  /** The failure states of destinations, by destination id. */
  readonly failures?: ReadonlyMap<string, FailureState> | undefined
}

/** Returns an object of the config topic as the operator API shows it. */
export function describeTopicObject(
  { version, by, at }: KnownVersion,
  { kind, id, document, problems: own, parsed }: ReadObject,
  { problemsFromOthers = [], failures }: OtherFacts = {},
): ConfigObject {
  const problems = [...own, ...problemsFromOthers]
  const state = problems.length === 0 ? 'used' : 'excluded'
  const disabledAutomatically =
    parsed.kind === 'destination' ? disablingOf(parsed.destination, failures?.get(id)) : undefined
  const facts = { kind, id, version, state, problems, isConflict: false, disabledAutomatically } as const
  return withMasked({ ...facts, origin: 'api', changedBy: by, changedAt: at }, document)
}

/** Returns an object of the configuration file as the operator API shows it. */
export function describeFileObject(
  file: Settings,
  { kind, id }: ObjectName,
  isConflict: boolean,
  { problemsFromOthers = [], failures }: OtherFacts = {},
): ConfigObject {
  const list = `${kind}s` as const
  const entry = file.entriesAsWritten?.entry(list, id) as ObjectDocument | undefined
  const isPlaceholder =
    kind === 'destination' && file.destinations.some(each => each.id === id && each.isPlaceholder === true)
  const known = kind === 'destination' ? failures?.get(id) : undefined
  const destination = known && file.destinations.find(each => each.id === id)
  return withMasked(
    {
      disabledAutomatically: destination && disablingOf(destination, known),
      ...{ kind, id, origin: 'file', version: 0, changedBy: undefined, changedAt: undefined, isConflict },
      state: isPlaceholder ? 'excluded' : 'used',
      problems: isPlaceholder ? [placeholderProblem] : problemsFromOthers,
    },
    isPlaceholder ? { id } : (entry ?? { id }),
  )
}

const placeholderProblem: SettingsProblem = {
  path: [],
  message: 'the file of this destination in a directory of "destinationsFrom" is missing or not valid',
  hint: 'run `hookline check-config` to see the problems of the file',
}

/** Masks the secrets only at the first access: most callers do not show the document. */
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
