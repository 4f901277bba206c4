import { traitNameOf } from '../message/audience-name-to-trait-name.ts'
import { type Rule, repeated, type WellFormed } from './configuration-rule.ts'
import { adviceOnName } from './key-and-name-hints.ts'
import { maxProblems, type Path, type SettingsProblem } from './settings-problem.ts'

type List = 'sources' | 'destinations'

const idsOf = (config: WellFormed, list: List) =>
  (config[list] ?? []).map((entry, index) => ({ path: [list, index, 'id'] as Path, name: entry?.id }))

export const uniqueNames: Rule = config => [
  ...repeated(idsOf(config, 'sources'), 'is also the id of another source'),
  ...repeated(idsOf(config, 'destinations'), 'is also the id of another destination'),
  ...repeated(
    (config.operator?.keys ?? []).map((key, index) => ({ path: ['operator', 'keys', index, 'name'], name: key?.name })),
    'is also the name of another key',
  ),
  ...repeated(
    (config.audiences?.list ?? []).map((audience, index) => ({
      path: ['audiences', 'list', index, 'name'],
      name: audience?.name,
    })),
    'is also the name of another audience',
  ),
]

/** Checks that the names of the audiences result in different trait names. */
export const distinctProperties: Rule = config => {
  const first = new Map<string, { readonly name: string; readonly path: Path }>()
  return (config.audiences?.list ?? []).flatMap((audience, index): readonly SettingsProblem[] => {
    const name = audience?.name
    if (name === undefined) return []
    const path: Path = ['audiences', 'list', index, 'name']
    const traitName = traitNameOf(name)
    if (traitName === undefined) {
      const message =
        'must contain a letter or digit, because the user trait that Hookline sends is named after the audience'
      return [{ path, message, hint: 'for example, "First time buyers" becomes the trait "first_time_buyers"' }]
    }
    const taken = first.get(traitName)
    if (taken === undefined) first.set(traitName, { name, path })
    // `uniqueNames` already reports two audiences of the same name.
    if (taken === undefined || taken.name === name) return []
    const message = `results in the trait name ${traitName}, which another audience already has`
    return [{ path, message, hint: 'use names that differ in more than case or separators', first: taken.path }]
  })
}

/**
 * Checks that the webhooks of a destination have different labels. The label of a webhook is its id
 * or, without an id, its position.
 */
export const uniqueWebhookLabels: Rule = config =>
  (config.destinations ?? []).flatMap((destination, index) => {
    const webhooks = destination?.webhooks ?? []
    const entries = webhooks.map((webhook, position) => ({
      path: ['destinations', index, 'webhooks', position, 'id'],
      name: webhook?.id ?? String(position),
    }))
    // The position of one webhook can equal the id of another. `repeated` reports the later of two
    // equal entries. Users can change only the id, so the ids come last.
    const [given, made] = [true, false].map(wanted =>
      entries.filter((_, at) => (webhooks[at]?.id !== undefined) === wanted),
    )
    return repeated(
      [...made!, ...given!],
      'is also the label of another webhook of this destination; the label of a webhook without an id is its position (0 for the first)',
    )
  })

export const knownNames: Rule = config => {
  const [sources, destinations] = [knownIds(config, 'sources'), knownIds(config, 'destinations')]
  const checkReferences = createReferenceCheck(maxProblems)
  return [
    ...(config.destinations ?? []).flatMap((destination, index) =>
      checkReferences(sources, ['destinations', index, 'sources'], destination?.sources),
    ),
    ...(config.audiences?.list ?? []).flatMap((audience, index) =>
      checkReferences(destinations, ['audiences', 'list', index, 'destinations'], audience?.destinations),
    ),
    ...(typeof config.destinationsFrom === 'object' ? config.destinationsFrom : []).flatMap((directory, index) =>
      checkReferences(sources, ['destinationsFrom', index, 'sources'], directory?.sources),
    ),
    // `canary` and `notices` name one destination, so their paths have no index.
    ...(['canary', 'notices'] as const).flatMap(key =>
      checkReferences(destinations, [], [config[key]?.destination]).map(problem => ({
        ...problem,
        path: [key, 'destination'],
      })),
    ),
  ]
}

interface KnownIds {
  readonly noun: 'source' | 'destination'
  /**
   * The ids; `undefined` if not all ids are known, because an id in the configuration is invalid,
   * the list is missing, or a config topic exists, which may contain more ids.
   */
  readonly ids: ReadonlySet<string> | undefined
  /**
   * Whether destinations also come from the files of `destinationsFrom`. The owners of these files
   * may remove a destination. So Hookline reports an unknown id, but still uses the configuration.
   */
  readonly mayBeInOtherFiles: boolean
}

function knownIds(config: WellFormed, list: List): KnownIds {
  const names = idsOf(config, list).map(({ name }) => name)
  const hasConfigTopic = config.operator?.encryptionKeyFile !== undefined
  const isWhole = config[list] !== undefined && !names.includes(undefined) && !hasConfigTopic
  return {
    noun: list === 'sources' ? 'source' : 'destination',
    ids: isWhole ? new Set(names.filter(name => name !== undefined)) : undefined,
    mayBeInOtherFiles: list === 'destinations' && config.destinationsFrom !== undefined,
  }
}

/**
 * Returns a function that checks a list of ids. Only the first `remainingSuggestions` unknown ids
 * get a suggestion, because a suggestion needs a comparison with all known ids.
 */
function createReferenceCheck(remainingSuggestions: number) {
  const nearest = (name: string | undefined, ids: KnownIds['ids'], otherwise: string): string =>
    // The hint does not list all ids, because a syntax error can turn secrets into ids.
    remainingSuggestions-- > 0 ? adviceOnName(name, [...(ids ?? [])], otherwise) : otherwise

  return ({ noun, ids, mayBeInOtherFiles }: KnownIds, path: Path, names: readonly (string | undefined)[] = []) => {
    const entries = names.map((name, index) => ({ path: [...path, index], name }))
    const unknown = entries.filter(({ name }) => name !== undefined && ids?.has(name) === false)
    return [
      ...repeated(entries, 'is listed twice'),
      ...unknown.map((entry): SettingsProblem => {
        const otherwise = `use the id of a configured ${noun}`
        const restored = mayBeInOtherFiles
          ? ', or restore the file of this destination in a directory of "destinationsFrom"'
          : ''
        const hint = nearest(entry.name, ids, `${otherwise}${restored}`)
        return { path: entry.path, message: `no ${noun} has this id`, hint, leavesFileUsable: mayBeInOtherFiles }
      }),
    ]
  }
}
