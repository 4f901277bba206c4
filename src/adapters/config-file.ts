import { draftFrom, settingsFrom } from '../core/settings/draft.ts'
import type { FileContent } from '../core/settings/files.ts'
import { formatPath, valueAt, wholeFile } from '../core/settings/problem.ts'
import type { Settings } from '../core/settings.ts'
import {
  besides,
  type Environment,
  type Gathered,
  gather,
  type LocatedProblem,
  startsWith,
} from './config-file/gather.ts'
import { createLook, type Look } from './config-file/look.ts'

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
  readonly look: Look
}

export type LoadResult =
  | Loaded
  | { readonly kind: 'refused'; readonly problems: readonly Problem[]; readonly look: Look }

/** `FILE:LINE:COL: path: message (hint)` */
export function formatProblem({ file, line, column, path, message, hint }: Problem): string {
  return `${file}:${line}:${column}: ${path}: ${message} (${hint})`
}

/** Reads a configuration with all files that it names. Everything that is wrong is told at once; never rejects for it. */
export async function loadConfigFile(path: string, env: Environment): Promise<LoadResult> {
  const look = createLook()
  const gathered = await gather(look, path, env)
  if (gathered.input === undefined) return refused(gathered.problems, gathered.files, look)
  const substituted = gathered.substituted.map(({ path: at, variables }) => [formatPath(at), variables] as const)
  const draft = draftFrom(gathered.input, new Map(substituted))
  const contents = new Map<string, FileContent>()
  for (const { name } of draft.files) {
    if (!contents.has(name)) contents.set(name, await look.text(besides(path, name)))
  }
  const result = settingsFrom(draft, contents)
  const found = result.kind === 'refused' ? result.problems.map(gathered.locate) : []
  const problems = [...gathered.problems, ...found.filter(problem => !toldAlready(problem, gathered))]
  return result.kind === 'refused' || problems.length > 0
    ? refused(problems, gathered.files, look)
    : { kind: 'loaded', settings: result.settings, look }
}

/** What could not be read is no second time missing. */
function toldAlready({ at }: LocatedProblem, { problems, input }: Gathered): boolean {
  return problems.some(form => startsWith(at, form.at) && valueAt(input, form.at) === undefined)
}

/** In the order of the files and of their lines. */
function refused(problems: readonly LocatedProblem[], files: readonly string[], look: Look): LoadResult {
  const sorted = problems.toSorted(
    (a, b) => files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column,
  )
  return {
    kind: 'refused',
    look,
    problems: sorted.map(({ file, line, column, path, message, hint }) => ({
      file,
      line,
      column,
      path: formatPath(path) || wholeFile,
      message,
      hint,
    })),
  }
}
