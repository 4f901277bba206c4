import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { loadConfigFile } from '../../../src/adapters/config-file.ts'
import { configFolder } from '../../support/config-folder.ts'

const fixture = (name: string): string =>
  readFileSync(new URL(`../../fixtures/config/accepted/${name}.yaml`, import.meta.url), 'utf8')
const sources = ['minimal', 'full', 'environment'].map(fixture)
const secrets = ['web-key', 'app-key', 'new-secret', 'old-secret', 'crm-token', 'crm-query']

let path: string
beforeAll(async () => {
  path = join(await configFolder(), 'hookline.yaml')
})

/** What people and half-finished writes do to a file: the text is cut, characters come, go or change, lines are moved. */
const edit = fc.oneof(
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat() }),
  fc.record({ kind: fc.constant('drop' as const), at: fc.nat(), length: fc.integer({ min: 1, max: 40 }) }),
  fc.record({
    ...{ kind: fc.constant('put' as const), at: fc.nat() },
    text: fc.oneof(
      fc.constantFrom(
        ...[
          '[',
          '{',
          '}',
          ']',
          ':',
          '- ',
          '"',
          "'",
          '&a ',
          '*a',
          '!!int ',
          '? ',
          '|\n',
          '\t',
          '\n',
          '${',
          '<<: ',
          '#',
          '\0',
          '~',
          '%',
          ', ',
          '1e999',
          '.nan',
          '\ud800',
        ],
      ),
      fc.string({ unit: 'binary', maxLength: 8 }),
    ),
  }),
  fc.record({ kind: fc.constant('move' as const), at: fc.nat(), to: fc.nat() }),
)

function edited(text: string, change: typeof edit extends fc.Arbitrary<infer Edit> ? Edit : never): string {
  const at = change.at % (text.length + 1)
  switch (change.kind) {
    case 'cut':
      return text.slice(0, at)
    case 'drop':
      return text.slice(0, at) + text.slice(at + change.length)
    case 'put':
      return text.slice(0, at) + change.text + text.slice(at)
    case 'move': {
      const lines = text.split('\n')
      const [line = ''] = lines.splice(change.at % lines.length, 1)
      return lines.toSpliced(change.to % (lines.length + 1), 0, line).join('\n')
    }
  }
}

async function judge(text: string): Promise<void> {
  await writeFile(path, text)
  const result = await loadConfigFile(path, {
    BROKERS: 'a:1',
    HOST: 'h',
    N: '6',
    SECRET: 'new-secret',
    EMPTY: '',
    INJECTED: '',
  })
  if (result.kind === 'loaded') return
  expect(result.problems.length).toBeGreaterThan(0)
  const lines = text.split('\n')
  for (const { file, line, column, message } of result.problems) {
    expect(file).toBe(path)
    expect(line).toBeGreaterThanOrEqual(1)
    expect(line).toBeLessThanOrEqual(lines.length)
    expect(column).toBeGreaterThanOrEqual(1)
    expect(column).toBeLessThanOrEqual((lines[line - 1] ?? '').length + 1)
    expect(message).not.toBe('')
    // An edit may make a file name or a key of a secret, and these are told, in quotes.
    const own = message.replaceAll(/"(?:[^"\\]|\\.)*"/g, '')
    for (const secret of secrets) expect(own).not.toContain(secret)
  }
}

it('however a file is edited, it is loaded or refused with a place and a message', async () => {
  const files = fc.tuple(fc.constantFrom(...sources), fc.array(edit, { minLength: 1, maxLength: 4 }))
  await fc.assert(
    fc.asyncProperty(files, ([text, edits]) => judge(edits.reduce(edited, text))),
    { numRuns: 300 },
  )
})

it('whatever JSON stands where the configuration is meant', async () => {
  const keys = fc.constantFrom(
    'kafka',
    'registry',
    'sources',
    'destinations',
    'webhooks',
    'headers',
    'delivery',
    'network',
    'audiences',
    'list',
    'id',
    'url',
    'allow',
    'ports',
    'sharedSecret',
    'sharedSecretFile',
    'destinationsFrom',
    'tls',
    '__proto__',
    'toString',
  )
  const { tree } = fc.letrec(tie => ({
    tree: fc.oneof(
      { depthSize: 'medium', withCrossShrink: true },
      fc.jsonValue({ maxDepth: 1 }),
      fc.array(tie('tree'), { maxLength: 7 }),
      fc.dictionary(keys, tie('tree'), { maxKeys: 8 }),
    ),
  }))
  await fc.assert(
    fc.asyncProperty(tree, value => judge(JSON.stringify(value))),
    { numRuns: 300 },
  )
})
