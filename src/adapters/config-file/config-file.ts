import { tellable } from '../../core/settings/advice.ts'
import { draftFrom, settingsFrom } from '../../core/settings/draft.ts'
import { notNeeded, type SeenFile } from '../../core/settings/files.ts'
import { formatPath, mostProblems, type Path, valueAt, wholeFile } from '../../core/settings/problem.ts'
import { everyService, isNeeded, type ServiceName } from '../../core/settings/service-names.ts'
import type { Destination, Settings } from '../../core/settings/settings.ts'
import { placeOfFile } from './directories.ts'
import { foreignIds, unlistedOf, withoutFiles } from './exclude.ts'
import { besides, type Environment, type Gathered, gather, type LocatedProblem, startsWith } from './read-sources.ts'
import { type ConfigSnapshot, createConfigSnapshot } from './snapshot.ts'

/** Something wrong in a configuration file. Lines and columns count from 1. */
export interface Problem {
  /** As it was given, or found beside what was given. */
  readonly file: string
  readonly line: number
  readonly column: number
  /** `destinations[0].webhooks[5]`; `the file` when no key of it is at fault. */
  readonly path: string
  readonly message: string
  readonly hint: string
}

export interface Loaded {
  readonly kind: 'loaded'
  readonly settings: Settings
  /** What was read for it: tells its files and directories, and later whether any of them is different. */
  readonly look: ConfigSnapshot
  /** What is wrong with files of `destinationsFrom` that are left out or missing; none: all are in use. */
  readonly problems: readonly Problem[]
  /** The destination that each file of `destinationsFrom` had when it was last good. */
  readonly byFile: ReadonlyMap<string, Destination>
}

export type LoadResult =
  | Loaded
  | { readonly kind: 'refused'; readonly problems: readonly Problem[]; readonly look: ConfigSnapshot }

/** `FILE:LINE:COL: path: message (hint)` */
export function formatProblem({ file, line, column, path, message, hint }: Problem): string {
  return `${file}:${line}:${column}: ${path}: ${message} (${hint})`
}

/**
 * Reads a configuration with the files that it names and `services` need. Reports all mistakes together; never rejects because of them. A
 * file of `destinationsFrom` that cannot be used is left out; `before`: what was loaded last, for the destination that it had then.
 */
export async function loadConfigFile(
  path: string,
  env: Environment,
  before?: Loaded,
  services: ReadonlySet<ServiceName> = everyService,
): Promise<LoadResult> {
  const look = createConfigSnapshot()
  const gathered = await gather(look, path, env, before?.look.paths())
  if (gathered.input === undefined) return refused(gathered.problems, gathered.files, look)
  const substituted = new Map(
    gathered.substituted.map(({ path: at, variables }) => [formatPath(at), variables] as const),
  )
  const draft = draftFrom(gathered.input, substituted)
  const contents = new Map<string, SeenFile>(draft.files.map(({ name }) => [name, notNeeded]))
  const needed = draft.files.filter(file => isNeeded(file.path, services))
  for (const name of new Set(needed.map(file => file.name)))
    contents.set(name, await look.text(...placeOfFile(name, gathered.directories, each => besides(path, each))))
  const result = settingsFrom(draft, contents)
  const found = result.kind === 'refused' ? result.problems.map(gathered.locate) : []
  const problems = [...gathered.problems, ...found.filter(problem => !toldAlready(problem, gathered))]
  if (result.kind === 'accepted' && problems.length === 0)
    return {
      kind: 'loaded',
      settings: result.settings,
      look,
      problems: [],
      byFile: byFileOf(gathered, result.settings),
    }

  const unusable = new Set(problems.filter(({ isExcluded }) => isExcluded !== true).map(({ file }) => file))
  if (unusable.has(path)) return refused(problems, gathered.files, look)
  const lastGood: Loaded['byFile'] = before?.byFile ?? new Map()
  const foreign = foreignIds(gathered, unusable, lastGood).map(gathered.locate)
  for (const { file } of foreign) unusable.add(file)
  problems.push(...foreign)
  const reduced = withoutFiles(gathered, unusable, lastGood)
  const rest = settingsFrom(draftFrom(reduced.input, substituted), contents)
  if (rest.kind === 'refused')
    return refused([...problems, ...rest.problems.map(gathered.locate)], gathered.files, look)
  const destinations = rest.settings.destinations.map(each => reduced.standIns.get(each.id) ?? each)
  const settings = { ...rest.settings, destinations, excluded: reduced.excluded }
  const isKept = (file: string): boolean => unusable.has(file) || unlistedOf(file, gathered) !== undefined
  const byFile = new Map([
    ...[...lastGood].filter(([file]) => isKept(file)),
    ...[...byFileOf(gathered, settings)].filter(([file]) => !unusable.has(file)),
  ])
  return { kind: 'loaded', settings, look, problems: told(problems, gathered.files), byFile }
}

/** The destination of each file of `destinationsFrom`. */
function byFileOf({ parts }: Gathered, { destinations }: Settings): ReadonlyMap<string, Destination> {
  const byId = new Map<unknown, Destination>(destinations.map(destination => [destination.id, destination]))
  return new Map(
    parts.flatMap(({ file, value }) => {
      const destination = byId.get(valueAt(value, ['id']))
      return destination === undefined ? [] : [[file, destination] as const]
    }),
  )
}

/** What could not be read is no second time missing. */
function toldAlready({ at }: LocatedProblem, { problems, input }: Gathered): boolean {
  return problems.some(
    form => startsWith(at, form.at) && (isSameId(at, form.at) || valueAt(input, form.at) === undefined),
  )
}

/** Both directories that use one id are reported. A second report, that the id is not unique, would add nothing. */
const isSameId = (at: Path, other: Path): boolean =>
  at.at(-1) === 'id' && at.length === other.length && startsWith(at, other)

/** In the order of the files and of their lines. */
function refused(problems: readonly LocatedProblem[], files: readonly string[], look: ConfigSnapshot): LoadResult {
  return { kind: 'refused', look, problems: told(problems, files) }
}

/** Problems as they are shown: the first ones, without keys that may be secrets. */
function told(problems: readonly LocatedProblem[], files: readonly string[]): readonly Problem[] {
  const orderOf = new Map(files.map((file, index) => [file, index]))
  const order = ({ file }: LocatedProblem): number => orderOf.get(file) ?? -1
  const sorted = problems.toSorted((a, b) => order(a) - order(b) || a.line - b.line || a.column - b.column)
  const shown = sorted.slice(0, mostProblems).map(
    ({ file, line, column, path, message, hint }): Problem => ({
      file,
      line,
      column,
      message,
      hint,
      path: formatPath(tellable(path)) || wholeFile,
    }),
  )
  const next = sorted[mostProblems]
  if (next === undefined) return shown
  const { file, line, column } = next
  const message = `${sorted.length - mostProblems} more problems follow`
  return [...shown, { file, line, column, message, path: wholeFile, hint: 'mend those above first' }]
}
