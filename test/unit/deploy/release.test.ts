import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import { NotReleasable, released } from '../../../deploy/release/release.ts'
import { checkout } from '../../support/pages.ts'

const read = (path: string, root = checkout): Promise<string> => readFile(join(root, path), 'utf8')
const changelog = released['CHANGELOG.md']!
const date = '2026-11-21'

describe('the changelog of a release', () => {
  it('has what was unreleased under its version, and room for what comes', () => {
    expect(changelog('# Changelog\n\n## Unreleased\n- A.\n- B.\n\n## 0.1.0, 2026-01-01\n- C.\n', '0.2.0', date)).toBe(
      '# Changelog\n\n## Unreleased\n\n## 0.2.0, 2026-11-21\n- A.\n- B.\n\n## 0.1.0, 2026-01-01\n- C.\n',
    )
  })

  it.each([
    ['nothing is new', '# Changelog\n\n## Unreleased\n\n## 0.1.0, 2026-01-01\n- C.\n'],
    ['the section is missing', '# Changelog\n\n## 0.1.0, 2026-01-01\n- C.\n'],
  ])('is refused where %s', (_, text) => expect(() => changelog(text, '0.2.0', date)).toThrow(NotReleasable))

  it('is refused where a place has gone or stands twice', () => {
    const inCode = released['src/client/version.ts']!
    expect(() => inCode('nothing', '0.2.0', date)).toThrow(NotReleasable)
    expect(() => inCode("version: '1' version: '2'", '0.2.0', date)).toThrow(NotReleasable)
  })
})

describe('what npm version runs', () => {
  let folder: string
  const run = () => promisify(execFile)(process.execPath, [join(checkout, 'deploy/release/prepare.ts'), folder])
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hookline-release-'))
    for (const path of Object.keys(released)) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await cp(join(checkout, path), join(folder, path))
    }
    await writeFile(join(folder, 'package.json'), JSON.stringify({ version: '9.8.7' }))
    await writeFile(join(folder, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n- A.\n')
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('gives every place the version of package.json', async () => {
    await run()
    expect(await read('CHANGELOG.md', folder)).toMatch(/^## Unreleased\n\n## 9\.8\.7, \d{4}-\d\d-\d\d\n- A\.\n$/m)
    expect(await read('src/client/version.ts', folder)).toContain("version: '9.8.7'")
    expect(parse(await read('deploy/helm/hookline/Chart.yaml', folder))).toMatchObject({
      version: '9.8.7',
      appVersion: '9.8.7',
    })
  })

  it('a second time changes nothing, and says why', async () => {
    const before = await Promise.all(Object.keys(released).map(path => read(path, folder)))
    await expect(run()).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('unreleased') })
    expect(await Promise.all(Object.keys(released).map(path => read(path, folder)))).toEqual(before)
  })
})

it('every place has the version of package.json', async () => {
  const { version } = JSON.parse(await read('package.json')) as { version: string }
  expect(await read('src/client/version.ts')).toContain(`version: '${version}'`)
  expect(parse(await read('deploy/helm/hookline/Chart.yaml'))).toMatchObject({ version, appVersion: version })
  expect(parse(await read('schemas/asyncapi.yaml')).info.version).toBe(version)
})
