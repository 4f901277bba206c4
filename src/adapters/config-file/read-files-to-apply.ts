import { dirname, isAbsolute, join } from 'node:path'
import { checkObjectFiles, configurationKeyOf } from '../../core/config-objects/check-and-complete-objects-to-apply.ts'
import type { ObjectDocument, ObjectKind } from '../../core/config-objects/config-objects.ts'
import type { NamedFileState } from '../../core/settings/named-files-and-content-problems.ts'
import { formatPath, type Path, type SettingsProblem, valueAt } from '../../core/settings/settings-problem.ts'
import { type Problem, problemsToShow } from './config-file.ts'
import type { Environment } from './environment-substitution.ts'
import type { LocatedProblem } from './read-config-files.ts'
import {
  type ConfigSnapshot,
  createConfigSnapshot,
  missingFileHint,
  missingNestedFileHint,
} from './read-files-and-detect-changes.ts'
import { type ConfigDocument, readYamlStream } from './read-yaml.ts'

/** A destination or source that a file describes. */
export interface FiledObject {
  readonly id: string
  /**
   * The document for the operator API. In place of the names of secret files, it has the secrets
   * in plain text.
   */
  readonly document: ObjectDocument
  /**
   * Returns the place of a problem in the file. The path of `problem` is relative to the document.
   */
  locate(problem: SettingsProblem): LocatedProblem
}

export type ObjectFiles =
  | { readonly kind: 'read'; readonly objects: readonly FiledObject[]; readonly files: readonly string[] }
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] }

interface Given {
  readonly kind: ObjectKind
  /** A file, a directory, or `-` for `stdin`. */
  readonly path: string
  readonly env: Environment
  readonly stdin: () => Promise<string>
}

/**
 * Reads the objects of a file, or of all `.yaml`, `.yml` and `.json` files of a directory. Relative
 * names of secret files are resolved in the directory of the object's file.
 */
export async function readObjectFiles({ kind, path, env, stdin }: Given): Promise<ObjectFiles> {
  const snapshot = createConfigSnapshot()
  const listing = path === '-' ? undefined : await snapshot.names(path)
  const isDirectory = listing?.kind === 'read'
  const files = isDirectory ? listing.names.map(name => join(path, name)) : [path]
  const parts: Part[] = []
  for (const file of files)
    for (const document of file === '-' ? readYamlStream(await stdin(), env) : await readFile(snapshot, file, env))
      parts.push({ file: file === '-' ? 'stdin' : file, document })

  const entries = parts.flatMap(entriesOf)
  const draft = checkObjectFiles(
    kind,
    entries.map(({ value }) => value),
    substitutedIn(parts, configurationKeyOf[kind]),
  )
  const directory = isDirectory ? path : dirname(path)
  const contents = new Map<string, NamedFileState>()
  for (const { name } of draft.files) {
    const content = await snapshot.text(isAbsolute(name) ? name : join(directory, name))
    const isMissing = content.kind === 'unreadable' && content.hint === missingFileHint
    contents.set(name, isMissing ? { ...content, hint: missingNestedFileHint } : content)
  }
  const checked = draft.complete(contents)

  const ofForm = parts.flatMap(({ file, document }) =>
    document.problems.map(
      ({ path, ...problem }): LocatedProblem => ({ ...problem, file, pathInConfiguration: path, pathInFile: path }),
    ),
  )
  const ofRules =
    checked.kind === 'accepted' ? [] : checked.problems.flatMap(problem => locatedUnlessKnown(problem, entries))
  const names = parts.map(({ file }) => file)
  if (checked.kind === 'refused' || ofForm.length > 0)
    return { kind: 'refused', problems: problemsToShow([...ofForm, ...ofRules], names) }
  const objects = checked.documents.map((document, index) => ({
    id: String(document['id']),
    document,
    locate: (problem: SettingsProblem) => located(problem, entries[index]!, entries),
  }))
  return { kind: 'read', objects, files: names }
}

interface Part {
  readonly file: string
  readonly document: ConfigDocument
}

interface Entry extends Part {
  /** The path of the object in the YAML document: its index in a list, otherwise empty. */
  readonly prefix: Path
  readonly value: unknown
}

async function readFile(snapshot: ConfigSnapshot, file: string, env: Environment): Promise<readonly ConfigDocument[]> {
  const content = await snapshot.text(file)
  if (content.kind === 'read') return readYamlStream(content.text, env)
  const place = { line: 1, column: 1 }
  const hint = content.hint === missingFileHint ? 'create it, or correct its name' : content.hint
  const problem = { ...place, path: [], message: content.message, hint }
  return [{ value: undefined, problems: [problem], substituted: [], placeOf: () => place }]
}

function entriesOf({ file, document }: Part): readonly Entry[] {
  const { value } = document
  if (value === undefined) return []
  if (!Array.isArray(value)) return [{ file, document, prefix: [], value }]
  return value.map((each: unknown, index) => ({ file, document, prefix: [index], value: each }))
}

/**
 * The environment variables that were substituted into each string, by the string's path. A path
 * begins with the list and the index of the object, for example `destinations[2]`.
 */
function substitutedIn(parts: readonly Part[], list: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>()
  let objects = 0
  for (const part of parts) {
    const { substituted, value } = part.document
    for (const { path, variables } of substituted) {
      const [index, within] = Array.isArray(value) ? [Number(path[0]), path.slice(1)] : [0, path]
      found.set(formatPath([list, objects + index, ...within]), variables)
    }
    objects += entriesOf(part).length
  }
  return found
}

/** Adds the file and the position to a problem. The path of the problem begins at the object. */
function located(
  { path, message, hint, first, at }: SettingsProblem,
  entry: Entry,
  all: readonly Entry[],
): LocatedProblem {
  const pathInFile = [...entry.prefix, ...path]
  const fullHint = [hint, first && `see ${positionOf(first, at, all)}`].filter(Boolean).join('; ')
  return {
    file: entry.file,
    ...entry.document.placeOf(pathInFile, at),
    pathInConfiguration: pathInFile,
    pathInFile,
    message,
    hint: fullHint,
  }
}

/**
 * Locates a problem. Returns an empty list if the value could not be read, because another problem
 * already reports this.
 */
function locatedUnlessKnown(problem: SettingsProblem, entries: readonly Entry[]): readonly LocatedProblem[] {
  const [, index, ...path] = problem.path
  const entry = entries[Number(index)]!
  const within = [...entry.prefix, ...path]
  const { problems, value } = entry.document
  const isKnown = problems.some(form => startsWith(within, form.path) && valueAt(value, form.path) === undefined)
  return isKnown ? [] : [located({ ...problem, path }, entry, entries)]
}

function positionOf([, index, ...path]: Path, at: SettingsProblem['at'], entries: readonly Entry[]): string {
  const { file, document, prefix } = entries[Number(index)]!
  const { line, column } = document.placeOf([...prefix, ...path], at)
  return `${file}:${line}:${column}`
}

function startsWith(path: Path, prefix: Path): boolean {
  return prefix.every((part, index) => path[index] === part)
}
