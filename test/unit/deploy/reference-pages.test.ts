import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { loadedCommands, variables } from '../../../deploy/tools/reference/commands.ts'
import { configurationRules } from '../../../deploy/tools/reference/configuration-rules.ts'
import { table } from '../../../deploy/tools/reference/markdown.ts'
import { configurationJsonSchema } from '../../../src/core/settings/configuration-json-schema.ts'
import { liveKeys } from '../../../src/core/settings/settings-change.ts'
import { checkout, pageAt } from '../../support/docs/pages.ts'

/* Checks those texts of the generated pages that are not generated from the code. */

const source = (path: string): string => readFileSync(join(checkout, path), 'utf8')
const configuration = pageAt('docs/reference/configuration.md').text
const commands = pageAt('docs/reference/commands.md').text
const sectionsOf = (text: string): readonly (readonly [string, string])[] =>
  text
    .split(/^## /m)
    .slice(1)
    .map(each => [each.slice(0, each.indexOf('\n')), each] as const)

interface Node {
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
  readonly anyOf?: readonly Node[]
}

function pathsOf({ properties = {}, items, anyOf = [] }: Node, path: string): readonly string[] {
  const own = Object.entries(properties).flatMap(([key, node]) => [`${path}${key}`, ...pathsOf(node, `${path}${key}.`)])
  const listed = items === undefined ? [] : pathsOf(items, path.replace(/\.$/, '[].'))
  return [...own, ...listed, ...anyOf.flatMap(each => pathsOf(each, path))]
}

describe('configuration.md', () => {
  it('has every key once', () => {
    const mappings =
      'kafka topics registry collector operator ops log network delivery payload audiences canary notices traces'.split(
        ' ',
      )
    const keys = pathsOf(configurationJsonSchema() as Node, '').filter(key => key !== '$schema')
    const rows = [...configuration.matchAll(/^\| `([^`]+)`/gm)].map(([, key]) => key)
    expect(rows.sort()).toEqual(keys.filter(key => !mappings.includes(key)).sort())
  })

  it('says for each part whether it is live', () => {
    const live = sectionsOf(configuration)
      .filter(([, text]) => /\bLive\./.test(text))
      .map(([title]) => title)
    expect(live.sort()).toEqual([...liveKeys, 'destinationsFrom'].sort())
  })

  it('has every configuration rule', () => {
    const [, names = ''] =
      /^const rules: readonly Rule\[\] = \[(.*?)\]/ms.exec(source('src/core/settings/validate.ts')) ?? []
    const held = [...names.matchAll(/\w+/g)].map(([name]) => name)
    expect(held.length).toBeGreaterThan(10)
    expect([...held, 'secretsGivenOnce'].sort()).toEqual(Object.keys(configurationRules).sort())
  })
})

describe('commands.md', () => {
  it('has every variable that a command reads from the environment', () => {
    const files = [
      'src/main.ts',
      ...readdirSync(join(checkout, 'src/app'), { recursive: true, encoding: 'utf8' }).map(name => `src/app/${name}`),
    ]
    const read = files
      .filter(name => name.endsWith('.ts'))
      .flatMap(name => [...source(name).matchAll(/env\[?'?\(?'?([A-Z][A-Z_]+)/g)].map(([, variable]) => variable))
    expect([...new Set(read)].sort()).toEqual(Object.keys(variables).sort())
  })

  it('has every command with its options and valid examples', async () => {
    const all = (await loadedCommands()).flatMap(({ command }) => [command, ...command.commands])
    expect(all.length).toBeGreaterThan(20)
    for (const command of all) {
      const words = command.parent ? ['hookline', command.parent.name(), command.name()] : ['hookline', command.name()]
      const title = `${'#'.repeat(words.length)} ${words.join(' ')}\n`
      expect(commands).toContain(title)
      const section = (commands.split(title)[1] ?? '').split(/^#{2,3} /m)[0] ?? ''
      const shown = [...section.matchAll(/^\| `(-[^`]+)`/gm)].map(([, flags]) => flags)
      expect([title, ...shown]).toEqual([
        title,
        ...command.options.map(({ flags }) => flags).filter(flags => !flags.includes('--help')),
      ])
      expect([title, /^```sh\n.+^```$/ms.test(section)]).toEqual([title, true])
    }
  })
})

describe('a table', () => {
  it('escapes characters that would end a cell', () => {
    expect(table(['a', ''], [['`x|y`', '1']])).toBe('| a |  |\n|---|---|\n| `x\\|y` | 1 |')
  })
})
