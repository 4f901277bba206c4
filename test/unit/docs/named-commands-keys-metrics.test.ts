import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import type { Command } from 'commander'
import { parse } from 'yaml'
import { metricGroups } from '../../../deploy/tools/metrics/metric-groups.ts'
import { loadedCommands } from '../../../deploy/tools/reference/commands.ts'
import { configurationJsonSchema } from '../../../src/core/settings/configuration-json-schema.ts'
import { allPages, blocksOf, checkout, codeSpansOf, type Page } from '../../support/docs/pages.ts'
import { commandsIn } from '../../support/docs/split-shell-script.ts'

/*
 * Everything that a page names must exist: commands, options, make targets, scripts, configuration
 * keys, values of the chart, metrics, labels, alerts and files.
 */

const read = (path: string): string => readFileSync(join(checkout, path), 'utf8')
const pages = allPages()
const cases = pages.map(page => ({ path: page.path, page }))

const typedIn = (page: Page): readonly (readonly string[])[] => {
  const scripts = blocksOf(page).filter(({ language }) => ['', 'sh'].includes(language))
  return [
    ...scripts.map(({ text }) => text),
    ...codeSpansOf(page).filter(span => /^(npx |hookline |make |npm )|(\||--) hookline /.test(span)),
  ].flatMap(commandsIn)
}

/**
 * The words after a program's name, if a command line runs it: at its beginning, or after `npx`,
 * `exec`, `--` or environment variables.
 */
function wordsAfter(program: string, words: readonly string[]): readonly string[] | undefined {
  const at = words.findIndex(
    (word, index) =>
      word === program &&
      (index === 0 ||
        ['npx', '--', 'exec'].includes(words[index - 1]!) ||
        words.slice(0, index).every(each => /^[A-Z_]+=/.test(each))),
  )
  return at < 0 ? undefined : words.slice(at + 1)
}

const commands = new Map<string, Command>()
beforeAll(async () => {
  for (const { command } of await loadedCommands()) commands.set(command.name(), command)
})

/**
 * The error of `hookline` with these words, or undefined. The parser of Hookline reads the options.
 */
function faultOf(words: readonly string[]): string | undefined {
  const shown = `hookline ${words.join(' ')}`
  const [first = '', ...rest] = words
  // Placeholders, words that are not commands, and the line that a service prints are not checked.
  if (/^(…|<|--help|--version|help$|ready$|$)/.test(first)) return undefined
  let command = commands.get(first)
  if (command === undefined) return `${shown}: no such command`
  let left = rest
  while (command.commands.length > 0 && left.length > 0) {
    const inner: Command | undefined = command.commands.find(each => each.name() === left[0])
    if (inner === undefined)
      return left[0]!.startsWith('-') && command.options.some(({ long }) => long === left[0])
        ? undefined
        : `${shown}: no such subcommand`
    command = inner
    left = left.slice(1)
  }
  const { operands, unknown } = command.parseOptions(left.filter(word => word !== '…'))
  if (unknown.length > 0 && unknown[0] !== '--help') return `${shown}: no option ${unknown[0]}`
  return operands.length > command.registeredArguments.length ? `${shown}: takes no ${operands.at(-1)}` : undefined
}

const safely = (words: readonly string[]): string | undefined => {
  try {
    return faultOf(words)
  } catch (error) {
    // A page may name an option without its value.
    if (words.at(-1)?.startsWith('--') && /argument missing/.test((error as Error).message)) return undefined
    return `hookline ${words.join(' ')}: ${(error as Error).message}`
  }
}

describe('commands', () => {
  it.each(cases)('$path', ({ page }) => {
    const typed = typedIn(page).flatMap(words => [wordsAfter('hookline', words) ?? []].filter(each => each.length > 0))
    expect(typed.map(safely).filter(Boolean)).toEqual([])
  })

  it('are on many pages, and the test finds mistakes', () => {
    const all = pages.flatMap(typedIn).filter(words => wordsAfter('hookline', words) !== undefined)
    expect(all.length).toBeGreaterThan(60)
    expect(
      ['replai', 'replay --sinse 2h', 'replay --reason nonsense', 'topics aply', 'replay now'].map(text =>
        safely(text.split(' ')),
      ),
    ).toEqual(Array(5).fill(expect.any(String)))
  })
})

describe('make', () => {
  const makefile = read('Makefile')
  const targets = [...makefile.matchAll(/^([a-z-]+):.*##/gm)].map(([, target]) => target)
  /** The files that read variables: the Makefile, and the programs that the Makefile starts. */
  const readers = [
    'Makefile',
    'test/tools/bench/options.ts',
    'test/tools/chaos/environment-variables.ts',
    'deploy/tools/local/kafka-and-registry.ts',
  ]
    .map(read)
    .join('\n')

  it.each(cases)('$path', ({ page }) => {
    const typed = typedIn(page).flatMap(words => wordsAfter('make', words) ?? [])
    const [variables, names] = [true, false].map(isVariable => typed.filter(word => word.includes('=') === isVariable))
    expect(names!.filter(name => !targets.includes(name))).toEqual([])
    expect(
      variables!.map(each => each.split('=')[0]!).filter(name => !new RegExp(`\\b${name}\\b`).test(readers)),
    ).toEqual([])
  })

  it.each(cases)('npm scripts: $path', ({ page }) => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const typed = typedIn(page).flatMap(words => {
      const after = wordsAfter('npm', words) ?? []
      return after[0] === 'run'
        ? after
            .slice(1)
            .filter(word => !word.startsWith('-'))
            .slice(0, 1)
        : []
    })
    expect(typed.filter(name => !(name in scripts))).toEqual([])
  })
})

interface Node {
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
  readonly anyOf?: readonly Node[]
}
const schema = configurationJsonSchema() as Node

/** The schema itself, its alternatives, and, for a list, the schema of the entries. */
const schemasOf = (node: Node): readonly Node[] => [
  node,
  ...[node.items ?? [], node.anyOf ?? []].flat().flatMap(schemasOf),
]
/**
 * Whether a key exists, for example `destinations[].webhooks[].url`. The brackets can be left out.
 */
const isKey = (path: string): boolean =>
  path
    .split('.')
    .map(name => name.replace(/\[\d*\]$/, ''))
    .reduce<readonly Node[]>(
      (nodes, name) => nodes.flatMap(schemasOf).flatMap(node => node.properties?.[name] ?? []),
      [schema],
    ).length > 0

describe('configuration keys', () => {
  const roots = Object.keys(schema.properties ?? {}).join('|')
  const keySpan = new RegExp(`^((?:${roots})(?:\\[\\d*\\])?(?:\\.[A-Za-z]+(?:\\[\\d*\\])?)+)(?::.*)?$`)
  const keysIn = (page: Page): readonly string[] =>
    codeSpansOf(page).flatMap(span => (/\.(ts|md|ya?ml|json)$/.test(span) ? [] : (keySpan.exec(span)?.[1] ?? [])))

  it.each(cases)('$path', ({ page }) => expect(keysIn(page).filter(key => !isKey(key))).toEqual([]))

  it('are on many pages, and the test finds mistakes', () => {
    expect(pages.flatMap(keysIn).length).toBeGreaterThan(100)
    expect(['delivery.timeouts', 'destinations[].webhooks[].uri'].map(isKey)).toEqual([false, false])
  })
})

describe('values of the chart', () => {
  const values = parse(read('deploy/helm/hookline/values.yaml'))
  const isValue = (path: string): boolean =>
    path.split('.').reduce((inner, key) => inner?.[key], values) !== undefined || isKey(path.replace(/^config\./, ''))
  /** Names that look like values of the chart, or like configuration keys (also without `config.`). */
  const valuesIn = (page: Page): readonly string[] =>
    codeSpansOf(page).flatMap(span =>
      /\.(ts|md|pem|yaml)$/.test(span) ? [] : (/^((?:[a-z]\w+)(?:\.[a-zA-Z]\w+)+)(?::.*)?$/.exec(span)?.[1] ?? []),
    )
  const deployment = ['deploy-on-kubernetes', 'scale', 'upgrade'].map(name => `docs/how-to/${name}.md`)
  const deploymentCases = cases.filter(({ path }) => deployment.includes(path))

  it.each(deploymentCases)('$path', ({ page }) => expect(valuesIn(page).filter(name => !isValue(name))).toEqual([]))

  // page-links.test.ts checks the files in code spans; these pages also name files in commands.
  it.each(deploymentCases)('and files in commands: $path', ({ page }) => {
    const named = [...page.text.matchAll(/\b((?:docs|deploy)\/[\w/.-]+\w)/g)].map(([, path = '']) => path)
    const files = named.filter(path => !path.includes('…') && !path.startsWith('deploy/hookline-'))
    expect(files.filter(path => !existsSync(join(checkout, path)))).toEqual([])
  })

  it('are on each of these pages, and the test finds mistakes', () => {
    const found = deploymentCases.map(({ page }) => valuesIn(page).length)
    expect(Math.min(...found)).toBeGreaterThan(0)
    expect(found).toHaveLength(3)
    expect(['config.policy.schedule', 'collector.replica'].map(isValue)).toEqual([false, false])
  })
})

describe('metrics and alerts', () => {
  const metrics = new Map(metricGroups.flatMap(subject => subject.metrics).map(metric => [metric.name, metric]))
  const alerts = [...read('deploy/helm/hookline/files/rules/alerts.yaml').matchAll(/alert: (\w+)/g)].map(
    ([, name]) => name,
  )
  const named = /\b(hookline_[a-z0-9_]+)(?:\{([^}`]*)\})?/g

  /** The error in the name of a metric, which a page can write with or without labels. */
  function faultOfMetric(name: string, labels = ''): string | undefined {
    const metric = metrics.get(name) ?? metrics.get(name.replace(/_(bucket|sum|count)$/, ''))
    if (metric === undefined) return name
    const known = [...Object.keys(metric.labels), 'le', 'job', 'namespace', 'pod', 'instance']
    const given = [...labels.matchAll(/([a-z_]+)(?=\s*[=!,]|$)/g)].map(([, label = '']) => label)
    const wrong = given.filter(label => !known.includes(label))
    return wrong.length > 0 ? `${name}{${wrong.join(',')}}` : undefined
  }

  it.each(cases)('$path', ({ page }) => {
    const faults = [...page.text.matchAll(named)].map(([, name = '', labels]) => faultOfMetric(name, labels))
    expect(faults.filter(Boolean)).toEqual([])
    const spans = codeSpansOf(page).filter(span => /^Hookline[A-Z]\w+$/.test(span))
    expect(spans.filter(span => !alerts.includes(span))).toEqual([])
  })

  it('the test finds mistakes', () => {
    expect(faultOfMetric('hookline_nothing_total')).toBe('hookline_nothing_total')
    expect(faultOfMetric('hookline_deliveries_total', 'destination="crm",reslt="x"')).toBe(
      'hookline_deliveries_total{reslt}',
    )
    expect(faultOfMetric('hookline_deliveries_total', 'destination="crm"')).toBeUndefined()
  })
})

it('JSON in examples is JSON', () => {
  const examples = pages.flatMap(blocksOf).filter(({ language }) => language === 'json')
  expect(examples.length).toBeGreaterThan(0)
  for (const { text } of examples) expect(() => JSON.parse(text)).not.toThrow()
})
