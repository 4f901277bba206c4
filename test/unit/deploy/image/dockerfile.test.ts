import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { includedBy, parseDockerfile, substituted } from '../../../support/image/dockerfile.ts'

const checkout = resolve(import.meta.dirname, '../../../..')
const read = (file: string): string => readFileSync(join(checkout, file), 'utf8')

describe('deploy/image/Dockerfile', () => {
  const { args, stages } = parseDockerfile(read('deploy/image/Dockerfile'))
  const [build, runtime] = stages
  const stepsOf = (kind: string) => runtime?.steps.filter(step => step.kind === kind) ?? []

  it('is one that the plain builder understands, in two stages', () => {
    expect(stages.map(({ name }) => name)).toEqual(['build', undefined])
  })

  it('takes its base images as arguments', () => {
    expect([...args.keys()]).toEqual(['BUILD_IMAGE', 'RUNTIME_IMAGE'])
    expect(stages.map(({ base }) => substituted(base, new Map([...args.keys()].map(name => [name, name]))))).toEqual([
      ...args.keys(),
    ])
  })

  it('pins its base images by digest', () => {
    for (const value of args.values()) expect(value).toMatch(/^[^@]+:[^@]+@sha256:[0-9a-f]{64}$/)
  })

  it('runs nothing in the runtime image, which has no shell', () => {
    expect(stepsOf('run')).toEqual([])
    expect(stepsOf('entrypoint')).toHaveLength(1)
  })

  it('ends as a user with a number: Kubernetes cannot tell from a name that it is not root', () => {
    expect(stepsOf('user')).toEqual([{ kind: 'user', value: '65532:65532' }])
  })

  it('installs from the lockfile, and runs no script of a package', () => {
    const commands = build?.steps.flatMap(step => (step.kind === 'run' ? [step.command] : [])) ?? []
    const installing = commands.filter(command => /^npm (ci|prune|install)/.test(command))
    expect(installing).toEqual(['npm ci --ignore-scripts', 'npm prune --omit=dev --ignore-scripts'])
  })

  it('has Node of the version that the service needs', () => {
    const needed = /major < (\d+)/.exec(read('bin/hookline.js'))?.[1]
    expect([...args.values()].map(value => /(?:node:|nodejs)(\d+)/.exec(value ?? '')?.[1])).toEqual([needed, needed])
  })
})

describe('parseDockerfile', () => {
  it('reads comments, continued lines and quoted values', () => {
    const text =
      'ARG A=1\n# note\nFROM $A AS one\nENV X="a b" \\\n  # in between\n  Y=c\nRUN a \\\n && b\nCOPY --from=one /x /y\n'
    expect(parseDockerfile(text).stages).toEqual([
      {
        base: '$A',
        name: 'one',
        steps: [
          {
            kind: 'env',
            pairs: [
              ['X', 'a b'],
              ['Y', 'c'],
            ],
          },
          { kind: 'run', command: 'a && b' },
          { kind: 'copy', from: 'one', sources: ['/x'], target: '/y' },
        ],
      },
    ])
  })

  it.each([
    ['a mount', 'FROM a\nRUN --mount=type=cache,target=/x npm ci'],
    ['a here-document', 'FROM a\nRUN <<EOF\necho\nEOF'],
    ['a changed mode', 'FROM a\nCOPY --chmod=755 a b'],
    ['a layer of its own', 'FROM a\nCOPY --link a b'],
    ['a platform', 'FROM --platform=$BUILDPLATFORM a'],
    ['a shell at the start', 'FROM a\nENTRYPOINT hookline run'],
    ['what is no instruction', 'FROM a\nRUNS x'],
    ['an instruction before the first base', 'RUN x'],
  ])('refuses %s', (_, text) => {
    expect(() => parseDockerfile(text)).toThrow('The plain builder does not understand: ')
  })

  it('puts variables in', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a Dockerfile writes it so
    const text = 'a${B}c$D-${E}'
    expect(substituted(text, new Map(Object.entries({ B: '1', D: '2' })))).toBe('a1c2-')
  })
})

describe('.dockerignore', () => {
  const isIncluded = includedBy(read('.dockerignore'))

  it('lets in what the build copies', () => {
    const [build] = parseDockerfile(read('deploy/image/Dockerfile')).stages
    const sources = build?.steps.flatMap(step => (step.kind === 'copy' ? step.sources : [])) ?? []
    expect(sources.length).toBeGreaterThan(8)
    expect(sources.filter(source => !isIncluded(source))).toEqual([])
  })

  it.each([
    '.git/config',
    'node_modules/a/b.js',
    '.hookline/kafka/x',
    'test/unit/x.ts',
    'deploy/local/hookline.yaml',
    '.env',
    'secrets/key',
  ])('keeps %s out', path => {
    expect(isIncluded(path)).toBe(false)
  })

  it('lets nothing else of the checkout in', () => {
    const inside = readdirSync(checkout).filter(isIncluded)
    expect(
      inside.filter(name => !/^(bin|src|schemas|LICENSE|\.npmrc|package.*\.json|tsconfig.*\.json)$/.test(name)),
    ).toEqual([])
  })

  it.each([
    ['*', 'a/b', true],
    ['a', 'a/b/c', true],
    ['a', 'ab', false],
    ['**/x.log', 'a/b/x.log', true],
    ['a?c', 'abc', true],
    ['*.md', 'a/b.md', false],
    ['*\n!a\na/b', 'a/b', true],
    ['*\n!a', 'a/b', false],
  ])('%j leaves %s out: %p', (text, path, isOut) => {
    expect(includedBy(text)(path)).toBe(!isOut)
  })
})
