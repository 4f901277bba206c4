import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { findHadolint } from '../../support/deploy/find-hadolint.ts'

const checkout = resolve(import.meta.dirname, '../../..')
const text = readFileSync(join(checkout, 'deploy/image/Dockerfile'), 'utf8')

// Without hadolint, these tests are skipped. image.test.ts still executes all steps of the
// Dockerfile.
const hadolint = await findHadolint().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`)
  return undefined
})
const lint = (input: string): string =>
  spawnSync(hadolint ?? '', ['--no-color', '-'], { input, encoding: 'utf8' }).stdout

describe('deploy/image/Dockerfile', () => {
  const whereInstalled = hadolint === undefined ? it.skip : it
  whereInstalled('has no finding of hadolint', () => expect(lint(text)).toBe(''))

  whereInstalled.each([
    ['root at the end', /^USER .*$/m, 'USER root', 'DL3002'],
    ['a shell at the start', /^ENTRYPOINT .*$/m, 'ENTRYPOINT hookline run', 'DL3025'],
  ])('%s is found', (_, right, wrong, found) => expect(lint(text.replace(right, wrong))).toContain(found))

  it('pins its base images by digest, with the major version of Node that the service needs', () => {
    const needed = /major < (\d+)/.exec(readFileSync(join(checkout, 'bin/hookline.js'), 'utf8'))?.[1]
    const bases = [...text.matchAll(/^ARG \w+_IMAGE=(.*)$/gm)].map(([, image = '']) => image)
    expect(bases).toHaveLength(2)
    for (const image of bases) expect(image).toMatch(new RegExp(`node(js|:)${needed}\\D.*@sha256:[0-9a-f]{64}$`))
  })

  it('runs no script of a package that it installs', () => {
    expect(text.match(/npm (ci|install|prune)\b.*/g)).toEqual([
      'npm ci --ignore-scripts',
      'npm prune --omit=dev --ignore-scripts',
    ])
  })
})
