import { propertyOf } from '../message/property-name.ts'
import { adviceOnName } from './advice.ts'
import { type Rule, repeated, type WellFormed } from './check.ts'
import { mostProblems, type Path, type SettingsProblem } from './problem.ts'

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

/** Audiences are told apart by the property that their names become. */
export const distinctProperties: Rule = config => {
  const first = new Map<string, { readonly name: string; readonly path: Path }>()
  return (config.audiences?.list ?? []).flatMap((audience, index): readonly SettingsProblem[] => {
    const name = audience?.name
    if (name === undefined) return []
    const path: Path = ['audiences', 'list', index, 'name']
    const property = propertyOf(name)
    if (property === undefined) {
      const message = 'needs a letter or a digit to name a property by'
      return [{ path, message, hint: 'First time buyers becomes first_time_buyers' }]
    }
    const taken = first.get(property)
    if (taken === undefined) first.set(property, { name, path })
    // The same name twice is told of by `uniqueNames`.
    if (taken === undefined || taken.name === name) return []
    return [{ path, message: "becomes the same property as another audience's name", first: taken.path }]
  })
}

/** A webhook's label is its id or else its position; two of one destination must not share one. */
export const uniqueWebhookLabels: Rule = config =>
  (config.destinations ?? []).flatMap((destination, index) => {
    const webhooks = destination?.webhooks ?? []
    const entries = webhooks.map((webhook, position) => ({
      path: ['destinations', index, 'webhooks', position, 'id'],
      name: webhook?.id ?? String(position),
    }))
    // Positions first, so that the id that looks like one is at fault.
    const [given, made] = [true, false].map(wanted =>
      entries.filter((_, at) => (webhooks[at]?.id !== undefined) === wanted),
    )
    return repeated([...made!, ...given!], 'is also the label of another webhook of this destination')
  })

export const knownNames: Rule = config => {
  const [sources, destinations] = [knownIds(config, 'sources'), knownIds(config, 'destinations')]
  const references = referencesAdvisedOn(mostProblems)
  return [
    ...(config.destinations ?? []).flatMap((destination, index) =>
      references(sources, ['destinations', index, 'sources'], destination?.sources),
    ),
    ...(config.audiences?.list ?? []).flatMap((audience, index) =>
      references(destinations, ['audiences', 'list', index, 'destinations'], audience?.destinations),
    ),
    ...(typeof config.destinationsFrom === 'object' ? config.destinationsFrom : []).flatMap((directory, index) =>
      references(sources, ['destinationsFrom', index, 'sources'], directory?.sources),
    ),
    // A single one has no place in a list.
    ...references(destinations, [], [config.canary?.destination]).map(problem => ({
      ...problem,
      path: ['canary', 'destination'],
    })),
  ]
}

interface KnownIds {
  readonly noun: 'source' | 'destination'
  /** Undefined: an id is wrong itself, which is told already; what refers to it is not at fault. */
  readonly ids: ReadonlySet<string> | undefined
  /** Some come from directories of `destinationsFrom`, whose owners may remove or rename them. */
  readonly areOthers: boolean
}

function knownIds(config: WellFormed, list: List): KnownIds {
  const names = idsOf(config, list).map(({ name }) => name)
  const isWhole = config[list] !== undefined && !names.includes(undefined)
  return {
    noun: list === 'sources' ? 'source' : 'destination',
    ids: isWhole ? new Set(names.filter(name => name !== undefined)) : undefined,
    areOthers: list === 'destinations' && config.destinationsFrom !== undefined,
  }
}

/** `left`: unknown names for which the nearest one is looked for, since that compares each of them with all known ones. */
function referencesAdvisedOn(left: number) {
  const nearest = (name: string | undefined, ids: KnownIds['ids'], otherwise: string): string =>
    // Not which ones there are: a slip in the form makes ids of other values too.
    left-- > 0 ? adviceOnName(name, [...(ids ?? [])], otherwise) : otherwise

  return ({ noun, ids, areOthers }: KnownIds, path: Path, names: readonly (string | undefined)[] = []) => {
    const entries = names.map((name, index) => ({ path: [...path, index], name }))
    const unknown = entries.filter(({ name }) => name !== undefined && ids?.has(name) === false)
    return [
      ...repeated(entries, 'stands twice'),
      ...unknown.map((entry): SettingsProblem => {
        const otherwise = `give the id of a ${noun} that is configured`
        const restored = areOthers ? ', or put its file back into destinationsFrom' : ''
        const hint = nearest(entry.name, ids, `${otherwise}${restored}`)
        return { path: entry.path, message: `no ${noun} has this id`, hint, isExcluded: areOthers }
      }),
    ]
  }
}
