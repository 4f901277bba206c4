import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import { runCommand } from '../../../support/command-io.ts'
import { contractSeries } from '../../../support/metrics-contract.ts'

/* What somebody types at three in the morning has to exist. */

const root = join(import.meta.dirname, '../../../..')
const folder = join(root, 'docs/runbooks')
const texts = readdirSync(folder).map(file => ({ file, text: readFileSync(join(folder, file), 'utf8') }))
const inBackticks = texts.flatMap(({ file, text }) =>
  [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => ({ file, code })),
)

const commands = inBackticks
  .filter(({ code }) => /(^|\| )hookline [a-z]/.test(code))
  .map(({ code }) => code.slice(code.search(/hookline [a-z]/)))
const wordsOf = (command: string): string[] => {
  const words = command.split(' ').slice(1)
  const end = words.findIndex(word => word.startsWith('-'))
  return end < 0 ? words : words.slice(0, end)
}

describe('commands in runbooks', () => {
  it.each([...new Set(commands)])('%s', async command => {
    const { code, out } = await runCommand([...wordsOf(command), '--help'])
    expect(code).toBe(0)
    for (const option of command.match(/--[a-z-]+/g) ?? []) expect(out).toContain(option)
    for (const [, option = '', value = ''] of command.matchAll(/(--reason|--outcome) (\w+)/g))
      expect([option, out.includes(`"${value}"`)]).toEqual([option, true])
  })

  it('are seen at all', () => {
    expect(commands.length).toBeGreaterThan(20)
  })
})

describe('configuration keys in runbooks', () => {
  const keys = inBackticks
    .map(({ code }) => code)
    .filter(code => /^(delivery|collector|network|topics|ops)\.\w+$/.test(code))
  const schema = JSON.parse(readFileSync(join(root, 'schemas/config.schema.json'), 'utf8')) as {
    properties: Record<string, { properties: Record<string, unknown> }>
  }
  it.each([...new Set(keys)])('%s', key => {
    const [section = '', name = ''] = key.split('.')
    expect(Object.keys(schema.properties[section]?.properties ?? {})).toContain(name)
  })
})

describe('metrics in documents', () => {
  const documents = ['docs', 'schemas', 'deploy']
    .flatMap(directory =>
      readdirSync(join(root, directory), { recursive: true }).map(file => join(directory, String(file))),
    )
    .filter(file => file.endsWith('.md'))
    .concat('README.md')
  const contract = parse(readFileSync(join(root, 'schemas/metrics.yaml'), 'utf8')) as { metrics: { name: string }[] }
  const known = new Set([...contractSeries.keys(), ...contract.metrics.map(({ name }) => name)])
  it.each(documents)('%s', file => {
    const named = [
      ...readFileSync(join(root, file), 'utf8').matchAll(/\b(hookline_[a-z_]*[a-z])\b(?!\{[^}]*\}\.)/g),
    ].map(([, name = '']) => name)
    expect(named.filter(name => !known.has(name))).toEqual([])
  })
})
