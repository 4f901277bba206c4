import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { parseSync } from '@swc/core'
import { loggable, redacted, withoutPaths } from '../../../../src/core/logging/log-fields.ts'
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
    // The bound is 2 s of CPU time. A quadratic algorithm took 435 ms for 16 KB and would take half
    // an hour here.
    expect(process.cpuUsage(startedAt).user).toBeLessThan(2_000_000)
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

/** The names of the fields in the log calls of a file. */
function loggedNames(file: string): readonly string[] {
  const names: string[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    if (Array.isArray(node)) return node.forEach(visit)
    const { type, callee, arguments: given } = node as Node & { arguments?: { expression: Node }[] }
    if (type === 'CallExpression' && isLogging(callee as Node) && given?.[0]) names.push(...keysOf(given[0].expression))
    Object.values(node).forEach(visit)
  }
  visit(parseSync(readFileSync(file, 'utf8'), { syntax: 'typescript' }).body)
  return names
}

function isLogging(callee: Node): boolean {
  const { object, property } = callee as { object?: Node; property?: { value?: string } }
  const on = (object?.['property'] ?? object) as { value?: string } | undefined
  return /^#?logger$/.test(on?.value ?? '') && /^(debug|info|warn|error)$/.test(property?.value ?? '')
}

function keysOf(expression: Node): readonly string[] {
  const {
    type,
    properties = [],
    expression: inner,
    right,
  } = expression as Node & {
    properties?: Node[]
    expression?: Node
    right?: Node
  }
  if (type === 'ParenthesisExpression') return keysOf(inner as Node)
  if (type === 'BinaryExpression') return keysOf(right as Node)
  if (type !== 'ObjectExpression') return []
  return properties.flatMap(property => {
    if (property.type === 'SpreadElement') return keysOf(property['arguments'] as Node)
    const key = property.type === 'Identifier' ? property : (property['key'] as Node)
    return [String(key['value'])]
  })
}

it('every logged field is on the allowlist', () => {
  const source = join(import.meta.dirname, '../../../../src')
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'))
  const names = new Set(files.flatMap(name => loggedNames(join(source, name))))
  // The search must find known names in plain calls, in spread objects, and in conditional
  // expressions.
  for (const known of ['destination', 'waitedMs', 'code', 'schemaId']) expect(names).toContain(known)
  expect([...names].filter(name => loggable({ [name]: 1 })[name] === redacted)).toEqual([])
})
