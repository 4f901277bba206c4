import { propertyOf } from '../../audience/name.ts'
import { adviceOnName } from '../advice.ts'
import type { Path, SettingsProblem } from '../problem.ts'
import { type Rule, repeated, type WellFormed } from './rule.ts'

type List = 'sources' | 'destinations'

const idsOf = (config: WellFormed, list: List) =>
  (config[list] ?? []).map((entry, index) => ({ path: [list, index, 'id'] as Path, name: entry?.id }))

export const uniqueNames: Rule = config => [
  ...repeated(idsOf(config, 'sources'), 'is also the id of another source'),
  ...repeated(idsOf(config, 'destinations'), 'is also the id of another destination'),
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
    return [{ path, message: `becomes ${property}, as another audience's name does`, first: taken.path }]
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

export const knownNames: Rule = config => [
  ...(config.destinations ?? []).flatMap((destination, index) =>
    references(config, 'sources', ['destinations', index, 'sources'], destination?.sources),
  ),
  ...(config.audiences?.list ?? []).flatMap((audience, index) =>
    references(config, 'destinations', ['audiences', 'list', index, 'destinations'], audience?.destinations),
  ),
  // A single one has no place in a list.
  ...references(config, 'destinations', [], [config.canary?.destination]).map(problem => ({
    ...problem,
    path: ['canary', 'destination'],
  })),
]

function references(
  config: WellFormed,
  list: List,
  path: Path,
  names: readonly (string | undefined)[] = [],
): readonly SettingsProblem[] {
  const ids = idsOf(config, list).map(entry => entry.name)
  const entries = names.map((name, index) => ({ path: [...path, index], name }))
  const twice = repeated(entries, 'stands twice')
  // An id that is wrong itself is told of already; who refers to it is not at fault.
  if (ids.includes(undefined) || config[list] === undefined) return twice
  const known = ids.filter(id => id !== undefined)
  const unknown = entries.filter(entry => entry.name !== undefined && !known.includes(entry.name))
  return [
    ...twice,
    ...unknown.map(entry => ({
      path: entry.path,
      message: `no ${list === 'sources' ? 'source' : 'destination'} has this id`,
      hint: adviceOnName(entry.name, known),
    })),
  ]
}
