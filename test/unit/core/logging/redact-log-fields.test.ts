import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { parseSync } from '@swc/core'
import { loggable, redacted, withoutPaths } from '../../../../src/core/logging/redact-log-fields.ts'
import { Secret } from '../../../../src/core/secret.ts'

describe('log fields', () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['with names of Hookline', { destination: 'crm', attempt: 2 }, { destination: 'crm', attempt: 2 }],
    [
      'with any other name',
      { userId: 'u-1', body: '{}', headers: {} },
      { userId: redacted, body: redacted, headers: redacted },
    ],
    [
      'that are lists or objects',
      { keys: ['kafka'], outcomes: { 0: 'timeout' } },
      { keys: ['kafka'], outcomes: { 0: 'timeout' } },
    ],
    ['of a prototype', Object.create({ destination: 'crm' }), {}],
    [
      'that contain a URL, at any depth',
      { detail: 'no https://a.example/T0/key?x', problems: ['http://b.example/secret'], error: { cause: 'c://d/e' } },
      { detail: 'no https://a.example/…', problems: ['http://b.example/…'], error: { cause: 'c://d/…' } },
    ],
  ])('%s', (_, facts, told) => {
    expect(loggable(facts)).toEqual(told)
  })

  it('are not copied when they need no change', () => {
    const facts = { destination: 'crm', attempt: 2, outcomes: { 0: 'timeout' }, detail: new Secret('hidden') }
    expect(loggable(facts)).toBe(facts)
  })

  it('a secret stays hidden', () => {
    expect(JSON.stringify(loggable({ detail: new Secret('hidden') }))).toBe('{"detail":"***"}')
  })
})

it('needs time proportional to the length of a text', () => {
  for (const text of ['a+'.repeat(500_000), 'a://'.repeat(250_000), `a://${'@'.repeat(1_000_000)}`]) {
    const startedAt = process.cpuUsage()
    withoutPaths(`${text}://`)
    // A quadratic algorithm took 435 ms for 16 KB and would take half an hour here.
    expect(process.cpuUsage(startedAt).user).toBeLessThan(10_000_000)
  }
})

describe('keeps only the origin of URLs in a text', () => {
  it.each([
    ['no URL here', 'no URL here'],
    ['https://a.example', 'https://a.example'],
    ['to https://a.example:8443/hooks/secret, and on', 'to https://a.example:8443/… and on'],
    ['https://user:password@a.example/', 'https://a.example/…'],
    ['https://a.example?key=secret', 'https://a.example/…'],
    ['https://a.example#secret', 'https://a.example/…'],
    ['"http://[::1]:80/x" and <HTTP://B.EXAMPLE/y>', '"http://[::1]:80/…" and <HTTP://B.EXAMPLE/…>'],
    ['kafka://10.0.0.1:9092', 'kafka://10.0.0.1:9092'],
  ])('%s', (text, told) => {
    expect(withoutPaths(text)).toBe(told)
  })
})

interface Node {
  readonly type?: string
  readonly [key: string]: unknown
}

function loggedNames(source: string): readonly string[] {
  const calls: Node[] = []
  const constants = new Map<string, Node[]>()
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    if (Array.isArray(node)) return node.forEach(visit)
    const { type, callee, arguments: given, id, init } = node as Visited
    if (type === 'CallExpression' && isLogging(callee as Node) && given?.[0]) calls.push(given[0].expression)
    if (type === 'VariableDeclarator' && id?.type === 'Identifier' && init) {
      const name = String(id['value'])
      constants.set(name, [...(constants.get(name) ?? []), init])
    }
    Object.values(node).forEach(visit)
  }
  visit(parseSync(source, { syntax: 'typescript' }).body)
  return calls.flatMap(call => keysOf(call, constants))
}

interface Visited extends Node {
  readonly arguments?: readonly { readonly expression: Node }[]
  readonly id?: Node
  readonly init?: Node | null
}

/** Whether the call writes a log line, or notes a failure for `createFirstFailureLog`. */
function isLogging(callee: Node): boolean {
  const nameOf = (node: unknown): string => (node as { value?: string } | undefined)?.value ?? ''
  const { value, object, property } = callee as { value?: string; object?: Node; property?: Node }
  if (/^note(Failure)?$/.test(value ?? nameOf(property))) return true
  const on = nameOf(object?.['property'] ?? object)
  return /^log(ger)?$/.test(on) && /^(debug|info|warn|error)$/.test(nameOf(property))
}

/**
 * The field names of an object. For a variable, those of each object that initializes a variable of
 * this name.
 */
function keysOf(expression: Node, constants: ReadonlyMap<string, readonly Node[]>): readonly string[] {
  const inner = (key: string): readonly string[] => keysOf(expression[key] as Node, constants)
  switch (expression.type) {
    case 'ParenthesisExpression':
      return inner('expression')
    case 'BinaryExpression':
      return inner('right')
    case 'ConditionalExpression':
      return [...inner('consequent'), ...inner('alternate')]
    case 'Identifier':
      return (constants.get(String(expression['value'])) ?? [])
        .filter(({ type }) => type !== 'Identifier')
        .flatMap(value => keysOf(value, constants))
    case 'ObjectExpression':
      return (expression['properties'] as readonly Node[]).flatMap(property => {
        if (property.type === 'SpreadElement') return keysOf(property['arguments'] as Node, constants)
        const key = property.type === 'Identifier' ? property : (property['key'] as Node)
        return [String(key['value'])]
      })
    default:
      return []
  }
}

it.each<[string, string]>([
  ['in a call', 'logger.warn({ a, b: 1 }, text)'],
  ['in the call of a private member', 'class C { m() { this.#logger.warn({ a, b: 1 }, text) } }'],
  ['in a variable', 'const fields = { a, b: 1 }; logger.error(fields, text)'],
  ['in a spread variable', 'const more = { b: 1 }; logger.info({ a, ...more }, text)'],
  ['in a conditional object', 'const more = is ? { b: 1 } : {}; logger.info({ a, ...more }, text)'],
  ['in a spread condition', 'logger.debug({ a, ...(is && { b: 1 }) }, text)'],
  ['in a note of a failure', 'class C { m() { this.#note({ a, b: 1 }, error) } }'],
])('finds the fields %s', (_, source) => {
  expect(loggedNames(source)).toEqual(['a', 'b'])
})

it('every logged field is on the allowlist', () => {
  const source = join(import.meta.dirname, '../../../../src')
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'))
  const names = new Set(files.flatMap(name => loggedNames(readFileSync(join(source, name), 'utf8'))))
  // The search must find names in plain calls, spread objects, conditional expressions, and
  // variables.
  for (const known of ['destination', 'waitedMs', 'code', 'schemaId', 'mode', 'audit']) expect(names).toContain(known)
  expect([...names].filter(name => loggable({ [name]: 1 })[name] === redacted)).toEqual([])
})
