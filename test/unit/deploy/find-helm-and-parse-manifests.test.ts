import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { findOrBuildHelm, helmVersion, isRecent } from '../../../deploy/tools/chart/find-helm.ts'
import { manifestsOf } from '../../../deploy/tools/chart/render.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hookline-helm-'))
})
afterEach(async () => {
  await rm(directory, { recursive: true })
})

async function program(name: string, script: string): Promise<string> {
  const path = join(directory, name)
  await writeFile(path, `#!/bin/sh\n${script}\n`)
  await chmod(path, 0o755)
  return path
}

describe('isRecent', () => {
  it.each([
    ['v4.2.4', true],
    ['v3.18.0', true],
    ['v3.21.4+g1234', true],
    ['v3.17.9', false],
    ['v2.99.0', false],
    ['', false],
  ])('%j: %p', (version, expected) => {
    expect(isRecent(version)).toBe(expected)
  })
})

describe('findOrBuildHelm', () => {
  it('uses the program in HELM', async () => {
    const HELM = await program('mine', 'echo v3.20.0')
    expect(await findOrBuildHelm({ HELM }, () => {})).toBe(HELM)
  })

  it('uses the program on the PATH, and logs why not another', async () => {
    await program('helm', 'echo v4.0.0')
    const env = { PATH: `${directory}:/usr/bin:/bin` }
    const lines: string[] = []
    expect(await findOrBuildHelm(env, line => lines.push(line))).toBe('helm')
    expect(lines).toEqual(['Helm: uses helm on the PATH (these are not available: HELM: not set)'])
  })

  it('builds a program with Go when the installed one is too old, and caches it', async () => {
    const HELM = await program('old', 'echo v3.2.1')
    await program(
      'go',
      `[ "$1" = version ] || { echo "$@" >> ${directory}/asked; printf '#!/bin/sh\\n' > "$GOBIN/helm"; }`,
    )
    const env = { HELM, PATH: `${directory}:/usr/bin:/bin`, XDG_CACHE_HOME: join(directory, 'cache') }
    const lines: string[] = []
    const found = await findOrBuildHelm(env, line => lines.push(line))
    expect(found).toBe(join(directory, `cache/hookline/helm-${helmVersion}/helm`))
    expect(readFileSync(join(directory, 'asked'), 'utf8')).toBe(
      `install -ldflags=-s -w helm.sh/helm/v4/cmd/helm@${helmVersion}\n`,
    )
    expect(lines).toEqual([
      expect.stringContaining(`building Helm ${helmVersion} with Go`),
      'Helm: uses a build with Go (these are not available: HELM: its version is v3.2.1; helm on the PATH: not found)',
    ])
  })

  it('names the remedies when there is none', async () => {
    await expect(findOrBuildHelm({ PATH: directory }, () => {})).rejects.toThrow(
      /Install Helm 3\.18 or newer[\s\S]*Install Go/,
    )
  })
})

describe('manifestsOf', () => {
  it('parses all documents except empty ones', () => {
    expect(manifestsOf('a: 1\n---\n# nothing\n---\nb: 2\n')).toEqual([{ a: 1 }, { b: 2 }])
  })

  it('refuses a duplicate key, of which YAML would silently use the second', () => {
    expect(() => manifestsOf('a: 1\na: 2\n')).toThrow('Map keys must be unique')
  })
})
