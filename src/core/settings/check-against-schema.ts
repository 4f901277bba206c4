import type { z } from 'zod'
import { keysAt, meaningAt } from './configuration-json-schema.ts'
import { adviceAt, adviceOnName } from './key-and-name-hints.ts'
import { type Configuration, type ConfigurationInput, configuration } from './schema-of-configuration.ts'
import { formatPath, maxProblems, type Path, type SettingsProblem, valueAt } from './settings-problem.ts'

/** For the formatted path of each value with environment variables: the names of the variables. */
export type Substituted = ReadonlyMap<string, readonly string[]>

/**
 * A configuration without values of a wrong type. In a list, `undefined` replaces them, so that the
 * indexes stay.
 */
export type Pruned<T> = T extends readonly (infer Element)[]
  ? readonly (Pruned<Element> | undefined)[]
  : T extends object
    ? { readonly [K in keyof T]?: Pruned<T[K]> | undefined }
    : T

export interface SchemaCheck {
  readonly problems: readonly SettingsProblem[]
  /** The part of the input that has the right types. */
  readonly wellFormed: Pruned<ConfigurationInput>
  /** The parsed configuration; `undefined` when the input has a problem. */
  readonly configuration: Configuration | undefined
}

type Issue = z.core.$ZodIssue

/** Checks for unknown and missing keys, and checks the type and format of each value. */
export function checkAgainstSchema(input: unknown, substituted: Substituted): SchemaCheck {
  const typed = structuredClone(input)
  const excess: SettingsProblem[] = []
  for (;;) {
    const result = configuration.safeParse(typed, { error: issue => issueText(issue, substituted) })
    const issues = result.error?.issues ?? []
    // Some problems hide others: zod does not check the entries of a list that is too long. So
    // repair `typed` and check again.
    const fixed = issues.filter(issue => truncateList(typed, issue, excess) || retype(typed, issue, substituted))
    if (fixed.length > 0) continue
    const problems = [...excess]
    for (const issue of issues) for (const problem of problemsOf(issue, typed, problems.length)) problems.push(problem)
    const pruned = { root: typed }
    for (const issue of issues) prune(pruned, issue)
    const wellFormed = (pruned.root ?? {}) as Pruned<ConfigurationInput>
    return { problems, wellFormed, configuration: problems.length === 0 ? result.data : undefined }
  }
}

/**
 * Truncates a list that is too long, and reports its first excess entry. Returns false for any
 * other issue.
 */
function truncateList(root: unknown, issue: Issue, excess: SettingsProblem[]): boolean {
  if (issue.code !== 'too_big' || issue.origin !== 'array') return false
  const maximum = Number(issue.maximum)
  const path = [...(issue.path as Path), maximum]
  excess.push({ path, message: issue.message, hint: meaningAt(path) })
  ;(valueAt(root, issue.path as Path) as unknown[]).length = maximum
  return true
}

/** Converts a text from the environment to the expected type. */
function retype(root: unknown, issue: Issue, substituted: Substituted): boolean {
  const path = issue.path as Path
  if (issue.code !== 'invalid_type' || variablesOf(path, substituted) === undefined) return false
  const text = valueAt(root, path)
  const typed = typeof text === 'string' ? typedAs(issue.expected, text) : undefined
  if (typed !== undefined) place(root, path, typed)
  return typed !== undefined
}

function typedAs(expected: string, text: string): unknown {
  if (expected === 'number' && /^-?\d{1,15}(\.\d{1,9})?$/.test(text)) return Number(text)
  if (expected === 'boolean' && /^(true|false)$/.test(text)) return text === 'true'
  return expected === 'array' ? listIn(text) : undefined
}

/**
 * The entries of a list from the environment, for example `brokers: ${KAFKA_BROKERS}` with the
 * value `a:9092,b:9092`. `undefined` when the text is empty.
 */
export const listIn = (text: string): readonly string[] | undefined =>
  text.trim() === '' ? undefined : text.split(',').map(part => part.trim())

interface Variables {
  readonly names: readonly string[]
  /** Whether the variables contain a whole list, and the value at the path is one entry of it. */
  readonly containWholeList: boolean
}

/** Returns the environment variables from which the value at a path comes, if any. */
function variablesOf(path: Path, substituted: Substituted): Variables | undefined {
  const containWholeList = typeof path.at(-1) === 'number' && substituted.has(formatPath(path.slice(0, -1)))
  const names = substituted.get(formatPath(containWholeList ? path.slice(0, -1) : path))
  return names && { names, containWholeList }
}

function place(root: unknown, path: Path, value: unknown): void {
  const parent = valueAt(root, path.slice(0, -1)) as Record<string | number, unknown>
  parent[path.at(-1)!] = value
}

/** Removes the value that an issue refers to. */
function prune(document: { root: unknown }, issue: Issue): void {
  if (issue.code === 'unrecognized_keys') return
  const path = ['root', ...(issue.path as Path)]
  const value = valueAt(document, path)
  if (value === undefined) return
  place(document, path, undefined)
}

/**
 * Converts an issue to problems. `before` is the number of earlier problems: after `maxProblems`
 * problems, unknown keys get no suggestions, because suggestions are expensive.
 */
function problemsOf(issue: Issue, input: unknown, before: number): readonly SettingsProblem[] {
  const path = issue.path as Path
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key, index) => ({
        path: [...path, key],
        at: 'key',
        message: 'unknown key',
        hint: before + index < maxProblems ? adviceOnName(key, keysAt(path)) : 'leave it out',
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
  if (value === null) return 'set a value or remove the key'
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

/**
 * `number` means a whole number here. For values that may have fractions, the schema defines the
 * messages.
 */
const expectedTypeNames: Readonly<Record<string, string>> = {
  ...nouns,
  number: 'a whole number',
  int: 'a whole number',
}

/** The error message for a value if the schema defines none. It never contains the value. */
export function issueText(issue: z.core.$ZodRawIssue, substituted: Substituted = new Map()): string {
  if (issue.input === undefined) return 'is missing'
  if (issue.input === null) return 'has no value'
  switch (issue.code) {
    case 'invalid_type': {
      const variables = variablesOf((issue.path ?? []) as Path, substituted)
      const type = expectedTypeNames[issue.expected] ?? issue.expected
      if (variables === undefined) return `must be ${type}, not ${nounOf(issue.input)}`
      const { names, containWholeList } = variables
      return `must be ${type}, but ${containWholeList ? 'an entry' : 'the value'} of ${names.map(name => `\${${name}}`).join(' and ')} is not ${type}`
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
        ? `exceeds the maximum of ${issue.maximum} entries in this list`
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
