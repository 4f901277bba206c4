import type { z } from 'zod'
import { adviceAt, adviceOnName } from './advice.ts'
import { keysAt, meaningAt } from './json-schema.ts'
import { formatPath, mostProblems, type Path, type SettingsProblem, valueAt } from './problem.ts'
import { type Configuration, type ConfigurationInput, configuration } from './schema.ts'

/** Texts that were put in from the environment: formatted path → the variables' names. */
export type Substituted = ReadonlyMap<string, readonly string[]>

/** What is left when everything of a wrong form is taken out; places in lists are kept. */
export type Pruned<T> = T extends readonly (infer Element)[]
  ? readonly (Pruned<Element> | undefined)[]
  : T extends object
    ? { readonly [K in keyof T]?: Pruned<T[K]> | undefined }
    : T

export interface Shape {
  readonly problems: readonly SettingsProblem[]
  /** The part of the input that has the right form, for the rules. */
  readonly wellFormed: Pruned<ConfigurationInput>
  /** Set when all of it has. */
  readonly configuration: Configuration | undefined
}

type Issue = z.core.$ZodIssue

/** Holds what was read against the schema: unknown keys, missing ones, types and forms of single values. */
export function shapeOf(input: unknown, substituted: Substituted): Shape {
  const typed = structuredClone(input)
  const surplus: SettingsProblem[] = []
  for (;;) {
    const result = configuration.safeParse(typed, { error: issue => issueText(issue, substituted) })
    const issues = result.error?.issues ?? []
    // zod does not look into a list that is too long: without its surplus it does.
    const mended = issues.filter(issue => cutSurplus(typed, issue, surplus) || retype(typed, issue, substituted))
    if (mended.length > 0) continue
    const problems = [...surplus]
    for (const issue of issues) for (const problem of problemsOf(issue, typed, problems.length)) problems.push(problem)
    const pruned = { root: typed }
    for (const issue of issues) prune(pruned, issue)
    const wellFormed = (pruned.root ?? {}) as Pruned<ConfigurationInput>
    return { problems, wellFormed, configuration: problems.length === 0 ? result.data : undefined }
  }
}

/** Takes out what a list has too much; the first surplus element is the problem, not the list. */
function cutSurplus(root: unknown, issue: Issue, surplus: SettingsProblem[]): boolean {
  if (issue.code !== 'too_big' || issue.origin !== 'array') return false
  const most = Number(issue.maximum)
  const path = [...(issue.path as Path), most]
  surplus.push({ path, message: issue.message, hint: meaningAt(path) })
  ;(valueAt(root, issue.path as Path) as unknown[]).length = most
  return true
}

/** Gives a substituted text the wanted type if it has the form of one; true when it did. */
function retype(root: unknown, issue: Issue, substituted: Substituted): boolean {
  if (issue.code !== 'invalid_type' || !substituted.has(formatPath(issue.path as Path))) return false
  const path = issue.path as Path
  const text = valueAt(root, path)
  const typed = typeof text === 'string' ? typedAs(issue.expected, text) : undefined
  if (typed !== undefined) place(root, path, typed)
  return typed !== undefined
}

function typedAs(expected: string, text: string): unknown {
  if (expected === 'number' && /^-?\d{1,15}(\.\d{1,9})?$/.test(text)) return Number(text)
  if (expected === 'boolean' && /^(true|false)$/.test(text)) return text === 'true'
  // `brokers: ${KAFKA_BROKERS}` with `a:9092,b:9092`.
  if (expected === 'array' && text.trim() !== '') return text.split(',').map(part => part.trim())
  return undefined
}

function place(root: unknown, path: Path, value: unknown): void {
  const parent = valueAt(root, path.slice(0, -1)) as Record<string | number, unknown>
  parent[path.at(-1)!] = value
}

/** Takes out the value that an issue is about. */
function prune(document: { root: unknown }, issue: Issue): void {
  if (issue.code === 'unrecognized_keys') return
  const path = ['root', ...(issue.path as Path)]
  const value = valueAt(document, path)
  if (value === undefined) return
  place(document, path, undefined)
}

/** `before`: how many problems there are already. Looking for what was meant costs more than the rest, and few are read. */
function problemsOf(issue: Issue, input: unknown, before: number): readonly SettingsProblem[] {
  const path = issue.path as Path
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key, index) => ({
        path: [...path, key],
        at: 'key',
        message: 'unknown key',
        hint: before + index < mostProblems ? adviceOnName(key, keysAt(path)) : 'leave it out',
      }))
    case 'invalid_value': {
      const hint = adviceOnName(valueAt(input, path), issue.values.map(String), adviceAt(path))
      return [{ path, message: issue.message, hint }]
    }
    default:
      return [{ path, message: issue.message, hint: adviceOnValue(issue, valueAt(input, path)) }]
  }
}

function adviceOnValue({ message, path }: Issue, value: unknown): string {
  if (value === null) return 'give it a value or leave it out'
  const isBare = typeof value === 'number' || typeof value === 'boolean'
  return isBare && message.startsWith('must be text') ? 'put it in quotes' : adviceAt(path as Path)
}

const nouns: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
}

/** Every number of the schema that has no text of its own is a whole one. */
const wanted: Readonly<Record<string, string>> = { ...nouns, number: 'a whole number', int: 'a whole number' }

/** What is wrong with a value for which the schema has no text of its own. Never repeats the value. */
export function issueText(issue: z.core.$ZodRawIssue, substituted: Substituted = new Map()): string {
  if (issue.input === undefined) return 'is missing'
  if (issue.input === null) return 'has no value'
  switch (issue.code) {
    case 'invalid_type': {
      const variables = substituted.get(formatPath((issue.path ?? []) as Path))
      const got = variables === undefined ? nounOf(issue.input) : `what ${variables.join(' and ')} stands for`
      return `must be ${wanted[issue.expected] ?? issue.expected}, not ${got}`
    }
    case 'invalid_union':
      if (issue.input === '') return 'must not be empty'
      return Array.isArray(issue.input) && issue.input.length > 2
        ? 'must have one or two entries'
        : 'must be text, or a list of one or two texts'
    case 'invalid_value':
      return `must be one of: ${issue.values.join(', ')}`
    case 'too_small':
      if (issue.origin === 'number') return `must be at least ${issue.minimum}`
      return issue.origin === 'array' ? 'must have at least one entry' : 'must not be empty'
    case 'too_big':
      return issue.origin === 'array'
        ? `is one too many: at most ${issue.maximum} are possible`
        : `must be at most ${issue.maximum}`
    default:
      return issue.message ?? 'is not valid'
  }
}

function nounOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'number' && !Number.isInteger(value)) return 'a fraction'
  return nouns[typeof value] ?? typeof value
}
