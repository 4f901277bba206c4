import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { parseChangesetFile } from '@changesets/parse'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import { NotReleasable, released } from '../../../deploy/tools/release/versioned-files.ts'
import { checkout } from '../../support/docs/pages.ts'

const execute = promisify(execFile)
const read = (path: string, root = checkout): Promise<string> => readFile(join(root, path), 'utf8')
interface Manifest {
  readonly name: string
  readonly version: string
  readonly scripts: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}
const manifestOf = async (path: string, root = checkout) => JSON.parse(await read(path, root)) as Manifest
const manifest = await manifestOf('package.json')
const packages = ['packages/client/package.json', 'packages/client-kafka/package.json']
const published = [manifest.name, '@hookline/client', '@hookline/client-kafka']

function faultOf(text: string): string | undefined {
  try {
    const { releases, summary } = parseChangesetFile(text)
    if (releases.length === 0) return 'names no package'
    for (const { name, type } of releases) {
      if (!published.includes(name)) return `names ${name}, which is not published from here`
      if (!['major', 'minor', 'patch'].includes(type)) return `raises nothing: ${type}`
    }
    return summary.trim() === '' ? 'says nothing' : undefined
  } catch (error) {
    return (error as Error).message
  }
}
const changeset = (bump: string, summary: string, name = manifest.name): string =>
  `---\n'${name}': ${bump}\n---\n\n${summary}\n`

describe('pending changesets', () => {
  it('name packages of this repository, the version level and the change', async () => {
    const files = (await readdir(join(checkout, '.changeset'))).filter(file => /(?<!^README)\.md$/.test(file))
    const faults = files.map(async file => ({ file, fault: faultOf(await read(join('.changeset', file))) }))
    expect((await Promise.all(faults)).filter(({ fault }) => fault !== undefined)).toEqual([])
  })

  it.each([
    ['major', changeset('major', 'A.'), undefined],
    ['minor', changeset('minor', 'A.'), undefined],
    ['patch', changeset('patch', 'A.'), undefined],
    ['the client library', changeset('minor', 'A.', '@hookline/client'), undefined],
    ['no front matter', 'A.\n', expect.any(String)],
    ['front matter without an end', '---\nhookline: minor\n\nA.\n', expect.any(String)],
    ['no package', '---\n---\n\nA.\n', expect.any(String)],
    ['another package', changeset('minor', 'A.', 'hooklime'), expect.any(String)],
    ['another number', changeset('middle', 'A.'), expect.any(String)],
    ['no number', changeset('none', 'A.'), expect.any(String)],
    ['no words', changeset('minor', ''), expect.any(String)],
  ])('is judged: %s', (_, text, fault) => expect(faultOf(text)).toEqual(fault))
})

describe('a place with the version', () => {
  it.each([
    ['has gone', 'nothing'],
    ['occurs twice', "version: '1' version: '2'"],
  ])('that %s stops the release', (_, text) => {
    expect(() => released['packages/client/src/version.ts']!(text, '0.2.0')).toThrow(NotReleasable)
  })
})

describe('npm run release', () => {
  let folder: string
  const places = ['package.json', 'CHANGELOG.md', ...packages, ...Object.keys(released)]
  // Replaces the scripts that `npm run release` runs after it has written the version.
  const scripts = { ...manifest.scripts, generate: 'cp package.json generated' }
  const texts = () => Promise.all(places.map(path => read(path, folder)))
  const release = () => execute('npm', ['run', '--silent', 'release'], { cwd: folder })
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hookline-release-'))
    for (const path of [...places, '.changeset/config.json', 'deploy/tools/release']) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await cp(join(checkout, path), join(folder, path), { recursive: true })
    }
    // The test must not depend on the real version.
    await writeFile(join(folder, 'package.json'), JSON.stringify({ ...manifest, scripts, version: '9.8.7' }))
    await writeFile(join(folder, 'CHANGELOG.md'), '# Changelog\n\n## 9.8.7\n- Before.\n')
    await symlink(join(checkout, 'node_modules'), join(folder, 'node_modules'))
    await execute('git', ['init', '--quiet', '--initial-branch=main'], { cwd: folder })
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('fails without pending changesets, and changes nothing', async () => {
    const before = await texts()
    await expect(release()).rejects.toMatchObject({ code: 1 })
    expect(await texts()).toEqual(before)
  })

  it('raises the version by the highest level, and writes the changes to CHANGELOG.md', async () => {
    await writeFile(join(folder, '.changeset/mended.md'), changeset('patch', 'Mended.'))
    await writeFile(join(folder, '.changeset/new.md'), changeset('minor', 'New.'))
    await release()
    expect(JSON.parse(await read('package.json', folder))).toEqual({ ...manifest, scripts, version: '9.9.0' })
    expect(await read('CHANGELOG.md', folder)).toBe(
      '# Changelog\n\n## 9.9.0\n\n### Minor Changes\n\n- New.\n\n### Patch Changes\n\n- Mended.\n\n## 9.8.7\n- Before.\n',
    )
    expect(await readdir(join(folder, '.changeset'))).toEqual(['config.json'])
  })

  it('then generates the files that contain the version', async () => {
    expect(JSON.parse(await read('generated', folder))).toMatchObject({ version: '9.9.0' })
  })

  it('writes the same version to every other place, and changes nothing else there', async () => {
    const version = '9.9.0'
    const lockfile = JSON.parse(await read('package-lock.json'))
    lockfile.version = lockfile.packages[''].version = version
    for (const path of packages) lockfile.packages[dirname(path)].version = version
    lockfile.packages['packages/client-kafka'].peerDependencies['@hookline/client'] = `^${version}`
    expect(await read('package-lock.json', folder)).toBe(`${JSON.stringify(lockfile, null, 2)}\n`)
    expect(await read('packages/client/src/version.ts', folder)).toContain(`version: '${version}'`)
    for (const path of packages) {
      const { peerDependencies, ...others } = await manifestOf(path)
      const peers = peerDependencies && { peerDependencies: { '@hookline/client': `^${version}` } }
      expect(await manifestOf(path, folder)).toEqual({ ...others, ...peers, version })
    }
    const chart = parse(await read('deploy/helm/hookline/Chart.yaml'))
    expect(parse(await read('deploy/helm/hookline/Chart.yaml', folder))).toEqual({
      ...chart,
      version,
      appVersion: version,
    })
  })
})

it('every place has the version of package.json', async () => {
  const { version } = manifest
  const lockfile = JSON.parse(await read('package-lock.json'))
  const locked = ['', ...packages.map(dirname)].map(path => lockfile.packages[path].version)
  expect([lockfile.version, ...locked]).toEqual(Array(4).fill(version))
  expect((await Promise.all(packages.map(path => manifestOf(path)))).map(each => each.version)).toEqual([
    version,
    version,
  ])
  expect(await read('CHANGELOG.md')).toMatch(new RegExp(`^# Changelog\n\n## ${version.replaceAll('.', '\\.')}$`, 'm'))
  expect(await read('packages/client/src/version.ts')).toContain(`version: '${version}'`)
  expect(parse(await read('deploy/helm/hookline/Chart.yaml'))).toMatchObject({ version, appVersion: version })
  expect(parse(await read('schemas/asyncapi.yaml')).info.version).toBe(version)
})
