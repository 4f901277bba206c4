import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { stringify } from 'yaml'
import { formatProblem } from '../../../../src/adapters/config-file/config-file.ts'
import { limitTokens } from '../../../../src/adapters/config-file/directory-limits.ts'
import { readConfigFiles } from '../../../../src/adapters/config-file/read-config-files.ts'
import { createConfigSnapshot } from '../../../../src/adapters/config-file/read-files-and-detect-changes.ts'
import { configFolder, loadValid } from '../../../support/config/config-folder.ts'

const main = `kafka: { brokers: [a:9092] }
registry: { url: http://registry:8081 }
sources: [{ id: web, writeKey: web-key }]
destinationsFrom: more
`
const entry = (id: string, more = {}) => ({
  id,
  sources: ['web'],
  webhooks: [{ url: `https://${id}.example` }],
  ...more,
})
const texts = (count: number): string[] => Array.from({ length: count }, (_, index) => `text ${index}`)

describe('a file of destinationsFrom', () => {
  it('is excluded if it has more than 20,000 tokens', async () => {
    const folder = await configFolder({
      'hookline.yaml': main,
      'more/a.yaml': stringify(entry('a')),
      'more/b.yaml': `id: b\nsources: [web]\npolicy: [${'1,'.repeat(7_000)}]\n`,
    })
    const { settings, problems } = await loadValid(join(folder, 'hookline.yaml'), {})
    expect(settings.destinations.map(({ id, isPlaceholder = false }) => [id, isPlaceholder])).toEqual([
      ['a', false],
      ['b', true],
    ])
    expect(problems.map(problem => formatProblem(problem).replace(`${folder}/`, ''))).toEqual([
      expect.stringMatching(
        /^more\/b\.yaml:3:\d+: policy: has more than 20000 YAML tokens \(words, punctuation marks and spaces\) \(check that/,
      ),
    ])
  })

  it('may have the largest filter', async () => {
    const where = Array.from({ length: 20 }, () => ({ path: 'properties.plan', op: 'in', value: texts(100) }))
    const filter = { events: { include: texts(50), exclude: texts(50) }, where }
    const files = { 'hookline.yaml': main, 'more/a.yaml': stringify(entry('a', { filter })) }
    const { settings, problems } = await loadValid(join(await configFolder(files), 'hookline.yaml'), {})
    expect(problems).toEqual([])
    expect(settings.destinations[0]?.filter?.where).toHaveLength(20)
  })
})

describe('a directory of destinationsFrom', () => {
  it('may have 200,000 tokens', () => {
    const nextFile = limitTokens()
    for (let file = 0; file < 10; file++) {
      const countToken = nextFile()
      for (let token = 0; token < 20_000; token++) if (countToken() !== undefined) throw new Error('too early')
      expect(countToken()?.message).toMatch(/^has more than 20000 YAML tokens/)
    }
    expect(nextFile()()?.message).toMatch(
      /^cannot be read completely, because the files of its directory have more than 200000 YAML tokens/,
    )
  })

  it('may have 2,000 files; the others are not read, and only the first of them is reported', async () => {
    const { read, problems } = await listing(2_002)
    expect(read).toHaveLength(2_001)
    expect(problems.map(({ file, message }) => `${file}: ${message}`)).toEqual([
      '/more/text 2000.yaml: is not read, because its directory has more than 2000 files; the files after it in alphabetical order are not read either',
    ])
  })

  it('keeps the last valid destination of a file above the limit', async () => {
    const kept = '/more/text 2100.yaml'
    const { parts } = await listing(2_200, new Set([kept]))
    expect(parts.slice(2_000).map(({ file }) => file)).toEqual(['/more/text 2000.yaml', kept])
  })
})

/** Reads a directory with `count` empty files. `read` has the paths of the files that were read. */
async function listing(count: number, known?: ReadonlySet<string>) {
  const read: string[] = []
  const snapshot = {
    ...createConfigSnapshot(),
    text: async (path: string) => {
      read.push(path)
      return { kind: 'read', text: path === '/hookline.yaml' ? main : '' } as const
    },
    names: async () => ({ kind: 'read', names: texts(count).map(text => `${text}.yaml`) }) as const,
  }
  return { read, ...(await readConfigFiles(snapshot, '/hookline.yaml', {}, known)) }
}

it('destinations with 6,000 wrong sources each are reported in linear time', async () => {
  const [few, many] = (await Promise.all([1_500, 6_000].map(withWrongSources))) as [string, string]
  // The first load also compiles the code, so it is not measured.
  await cpuTimeOf(few)
  const ofMany = Math.min(await cpuTimeOf(many), await cpuTimeOf(many))
  const ofFew = Math.max(await cpuTimeOf(few), await cpuTimeOf(few))
  // Four times as many sources take about five times as long. A quadratic check takes 10 to 30
  // times as long.
  expect(ofMany / ofFew).toBeLessThan(8)
})

/** Four destinations, each with `count` sources that they may not use. */
function withWrongSources(count: number): Promise<string> {
  return configFolder({
    'hookline.yaml': main.replace('more', '[{ directory: more, sources: [web] }]'),
    ...Object.fromEntries(
      ['a', 'b', 'c', 'd'].map(id => [
        `more/${id}.yaml`,
        `id: ${id}\nsources: [${'b,'.repeat(count)}]\nwebhooks: [{ url: https://a.example }]\n`,
      ]),
    ),
  })
}

/** The CPU time of a load, in microseconds. */
async function cpuTimeOf(folder: string): Promise<number> {
  const start = process.cpuUsage()
  expect((await loadValid(join(folder, 'hookline.yaml'), {})).problems).toHaveLength(101)
  return process.cpuUsage(start).user
}
