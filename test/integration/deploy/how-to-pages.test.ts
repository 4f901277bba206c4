import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import { rendered } from '../../support/deploy/manifests/renderings.ts'

/* Everything that the deployment pages name must exist, and the chart must accept their values. */

const checkout = resolve(import.meta.dirname, '../../..')
const read = (file: string): string => readFileSync(join(checkout, file), 'utf8')
const pages = ['deploy-on-kubernetes', 'scale', 'upgrade'].map(name => [name, read(`docs/how-to/${name}.md`)] as const)
const found = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([, name = '']) => name)

describe.each(pages)('docs/how-to/%s.md', (_, text) => {
  it('shows values that the chart accepts', async () => {
    // Blocks with a `kind` are manifests, and not values of the chart.
    const blocks = found(text, /^```yaml\n(.*?)^```$/gms).map(block => parse(block))
    for (const values of blocks.filter(({ kind }) => kind === undefined))
      expect((await rendered(values)).length).toBeGreaterThan(4)
  })

  it('names only existing values', () => {
    const values = parse(read('deploy/helm/hookline/values.yaml'))
    const keys = parse(JSON.stringify(parse(read('schemas/config.schema.json')).properties))
    // Names that look like keys of the chart or of the configuration (also without `config.`).
    const named = found(text, /`((?:config\.)?[a-z]\w+(?:\.[a-zA-Z]\w+)+)(?::[^`]*)?`/g).filter(
      name => !/\.(md|ts|pem|yaml)$/.test(name),
    )
    const isThere = (name: string): boolean =>
      has(values, name) || hasKey({ properties: keys }, name.replace(/^config\./, ''))
    expect(named.filter(name => !isThere(name))).toEqual([])
  })

  it('names only existing files, metrics and alerts', () => {
    const files = found(text, /\b((?:docs|deploy)\/[\w/.-]+\w)/g).filter(path => !path.includes('…'))
    expect(files.filter(path => !existsSync(join(checkout, path)) && !path.startsWith('deploy/hookline-'))).toEqual([])
    const metrics = found(read('schemas/metrics.yaml'), /^ +- name: (\w+)$/gm)
    expect(found(text, /`(hookline_\w+)`/g).filter(name => !metrics.includes(name))).toEqual([])
    const alerts = found(read('deploy/helm/hookline/files/rules/alerts.yaml'), /alert: (\w+)/g)
    expect(found(text, /`(Hookline\w+)`/g).filter(name => !alerts.includes(name))).toEqual([])
  })
})

const has = (object: unknown, path: string): boolean =>
  path.split('.').reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], object) !==
  undefined

interface Node {
  readonly properties?: Readonly<Record<string, Node>>
}
const hasKey = (schema: Node, path: string): boolean =>
  path.split('.').reduce<Node | undefined>((node, key) => node?.properties?.[key], schema) !== undefined
