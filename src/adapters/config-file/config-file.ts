import { countWithNoun } from '../../core/count-with-noun.ts'
import { placeholderOf } from '../../core/delivery/route.ts'
import { hasPlainUrl } from '../../core/settings/check-urls-and-headers.ts'
import { maskUnknownKeys } from '../../core/settings/key-and-name-hints.ts'
import {
  type FileReader,
  isNeeded,
  type NamedFileState,
  notNeeded,
} from '../../core/settings/named-files-and-content-problems.ts'
import { everyService } from '../../core/settings/service-names.ts'
import type { Destination, Settings } from '../../core/settings/settings.ts'
import { formatPath, maxProblems, valueAt, wholeFile } from '../../core/settings/settings-problem.ts'
import { draftFrom, settingsFrom } from '../../core/settings/validate.ts'
import { placeOfFile } from './destination-directories-and-allowed-sources.ts'
import {
  type ConfigFiles,
  type Environment,
  type LocatedProblem,
  readConfigFiles,
  resolveFileName,
} from './read-config-files.ts'
import { type ConfigSnapshot, createConfigSnapshot } from './read-files-and-detect-changes.ts'
import { replaceUnusableFiles, takenIds, unlistedOf } from './replace-unusable-files.ts'

/** A problem in a configuration file. Lines and columns count from 1. */
export interface Problem {
  /** The path of the file. A relative path is relative to the working directory. */
  readonly file: string
  readonly line: number
  readonly column: number
  /**
   * The configuration key, as in `destinations[0].webhooks[5]`, or `the file`. `undefined` if this
   * entry only says how many further problems are not shown.
   */
  readonly path: string | undefined
  readonly message: string
  readonly hint: string
}

export interface Loaded {
  readonly kind: 'loaded'
  readonly settings: Settings
  /** The files and directories that the settings were read from. */
  readonly snapshot: ConfigSnapshot
  /**
   * Problems of the `destinationsFrom` files that are not used, and of directories that cannot be
   * listed.
   */
  readonly problems: readonly Problem[]
  /** The last valid destination of each `destinationsFrom` file. */
  readonly byFile: ReadonlyMap<string, Destination>
}

export type LoadResult =
  | Loaded
  | { readonly kind: 'refused'; readonly problems: readonly Problem[]; readonly snapshot: ConfigSnapshot }

/** Formats a problem as `FILE:LINE:COL: path: message (hint)`. */
export function formatProblem({ file, line, column, path, message, hint }: Problem): string {
  const subject = path === undefined ? '' : `${path}: `
  return `${file}:${line}:${column}: ${subject}${message} (${hint})`
}

/**
 * Loads a configuration file and the files that it names. Problems do not reject the promise. If
 * a file differs from its digest in `lastDigests`, the file counts as unreadable, because another
 * program may still be writing it.
 */
export async function loadConfigFile(
  path: string,
  env: Environment,
  lastAccepted?: Loaded,
  readers: ReadonlySet<FileReader> = everyService,
  lastDigests?: ConfigSnapshot['digests'],
): Promise<LoadResult> {
  const snapshot = createConfigSnapshot(lastDigests)
  const known = new Set([...(lastAccepted?.snapshot.paths() ?? []), ...(lastAccepted?.byFile.keys() ?? [])])
  const configFiles = await readConfigFiles(snapshot, path, env, known)
  if (configFiles.input === undefined) return refused(configFiles.problems, configFiles.files, snapshot)
  const substituted = new Map(
    configFiles.substituted.map(({ path: at, variables }) => [formatPath(at), variables] as const),
  )
  const draft = draftFrom(configFiles.input, substituted)
  const contents = new Map<string, NamedFileState>(draft.files.map(({ name }) => [name, notNeeded]))
  const needed = draft.files.filter(file => isNeeded(file.path, readers))
  for (const name of new Set(needed.map(file => file.name)))
    contents.set(
      name,
      await snapshot.text(...placeOfFile(name, configFiles.directories, each => resolveFileName(path, each))),
    )
  const result = settingsFrom(draft, contents)
  const found = result.kind === 'refused' ? result.problems.map(configFiles.locate) : []
  const problems = [...configFiles.problems, ...found.filter(createUnreportedProblemFilter(configFiles))]
  if (result.kind === 'accepted' && problems.length === 0)
    return {
      kind: 'loaded',
      settings: result.settings,
      snapshot,
      problems: [],
      byFile: byFileOf(configFiles, result.settings),
    }

  const unusable = new Set(problems.filter(({ leavesFileUsable }) => leavesFileUsable !== true).map(({ file }) => file))
  if (unusable.has(path)) return refused(problems, configFiles.files, snapshot)
  const lastGood: Loaded['byFile'] = lastAccepted?.byFile ?? new Map()
  const foreign = takenIds(configFiles, unusable, lastGood).map(configFiles.locate)
  for (const { file } of foreign) unusable.add(file)
  problems.push(...foreign)
  const configWithStandIns = replaceUnusableFiles(configFiles, draft.check.wellFormed, unusable, lastGood)
  const rest = settingsFrom(draftFrom(configWithStandIns.input, substituted), contents)
  if (rest.kind === 'refused')
    return refused([...problems, ...rest.problems.map(configFiles.locate)], configFiles.files, snapshot)
  const destinations = withStandIns(rest.settings, configWithStandIns.standIns)
  const entriesAsWritten = rest.settings.entriesAsWritten?.without(new Set(configWithStandIns.standIns.keys()))
  const settings = {
    ...rest.settings,
    destinations,
    excluded: configWithStandIns.excluded,
    ...(entriesAsWritten && { entriesAsWritten }),
  }
  const isKept = (file: string): boolean => unusable.has(file) || unlistedOf(file, configFiles) !== undefined
  const byFile = new Map([
    ...[...lastGood].filter(([file]) => isKept(file)),
    ...[...byFileOf(configFiles, settings)].filter(([file]) => !unusable.has(file)),
  ])
  return { kind: 'loaded', settings, snapshot, problems: problemsToShow(problems, configFiles.files), byFile }
}

/**
 * Replaces the destinations of unusable files by the stand-ins from `replaceUnusableFiles`. With
 * `network.httpsOnly`, a stand-in with an http:// URL becomes a placeholder: its messages wait in
 * retry topics.
 */
function withStandIns(
  { destinations, network }: Settings,
  standIns: ReadonlyMap<string, Destination>,
): readonly Destination[] {
  return destinations.map(each => {
    const standIn = standIns.get(each.id) ?? each
    return network.httpsOnly === true && hasPlainUrl(standIn) ? placeholderOf(standIn) : standIn
  })
}

function byFileOf({ parts }: ConfigFiles, { destinations }: Settings): ReadonlyMap<string, Destination> {
  const byId = new Map<unknown, Destination>(destinations.map(destination => [destination.id, destination]))
  return new Map(
    parts.flatMap(({ file, value }) => {
      const destination = byId.get(valueAt(value, ['id']))
      return destination === undefined ? [] : [[file, destination] as const]
    }),
  )
}

/**
 * Returns a filter that removes the problems of values that could not be read, and of ids that
 * belong to another directory: `problems` already reports these values and ids.
 */
function createUnreportedProblemFilter({ problems, input }: ConfigFiles): (problem: LocatedProblem) => boolean {
  const paths = problems.map(({ pathInConfiguration }) => pathInConfiguration)
  const ids = new Set(paths.filter(path => path.at(-1) === 'id').map(formatPath))
  const unread = new Set(paths.filter(path => valueAt(input, path) === undefined).map(formatPath))
  return ({ pathInConfiguration: path }) =>
    !ids.has(formatPath(path)) &&
    !unread.has(formatPath([])) &&
    !path.some((_, index) => unread.has(formatPath(path.slice(0, index + 1))))
}

function refused(problems: readonly LocatedProblem[], files: readonly string[], snapshot: ConfigSnapshot): LoadResult {
  return { kind: 'refused', snapshot, problems: problemsToShow(problems, files) }
}

/**
 * The first `maxProblems` problems by file, line and column. If more were found, a last entry says
 * how many are not shown. Unknown keys are masked, because they may be secrets.
 */
export function problemsToShow(problems: readonly LocatedProblem[], files: readonly string[]): readonly Problem[] {
  const orderOf = new Map(files.map((file, index) => [file, index]))
  const order = ({ file }: LocatedProblem): number => orderOf.get(file) ?? -1
  const sorted = problems.toSorted((a, b) => order(a) - order(b) || a.line - b.line || a.column - b.column)
  const shown = sorted.slice(0, maxProblems).map(
    ({ file, line, column, pathInFile, message, hint }): Problem => ({
      file,
      line,
      column,
      message,
      hint,
      path: formatPath(maskUnknownKeys(pathInFile)) || wholeFile,
    }),
  )
  const next = sorted[maxProblems]
  if (next === undefined) return shown
  const { file, line, column } = next
  const message = `${countWithNoun(sorted.length - maxProblems, 'more problem')} not shown`
  return [...shown, { file, line, column, message, path: undefined, hint: 'correct the problems above first' }]
}
