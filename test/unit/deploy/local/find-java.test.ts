import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { findJava, javaVersion } from '../../../../deploy/tools/local/find-java.ts'

describe('javaVersion parses the output of `java -version`', () => {
  it.each([
    ['openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment …', 17],
    ['openjdk version "25" 2025-09-16', 25],
    ['openjdk version "21-ea" 2023-09-19', 21],
    ['java version "1.8.0_381"\nJava(TM) SE Runtime Environment', 8],
    ['Picked up JAVA_TOOL_OPTIONS: -Dx=1\nopenjdk version "11.0.2" 2019-01-15', 11],
    ['The operation couldn’t be completed. Unable to locate a Java Runtime.', undefined],
    ['', undefined],
  ])('%j is %p', (output, version) => {
    expect(javaVersion(output)).toBe(version)
  })
})

describe('findJava', () => {
  let dir: string
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'hookline-java-test-'))
  })
  afterEach(() => rm(dir, { recursive: true }))

  async function fakeJava(folder: string, version: string): Promise<string> {
    const bin = join(dir, folder, 'bin')
    await mkdir(bin, { recursive: true })
    await writeFile(join(bin, 'java'), `#!/bin/sh\necho 'openjdk version "${version}"' >&2\n`)
    await chmod(join(bin, 'java'), 0o755)
    return join(dir, folder)
  }

  it('prefers JAVA_HOME', async () => {
    const home = await fakeJava('home', '21.0.1')
    const onPath = await fakeJava('path', '17.0.1')
    const search = await findJava({ JAVA_HOME: home, PATH: join(onPath, 'bin') })
    expect(search).toMatchObject({ kind: 'found', java: { version: 21, command: join(home, 'bin', 'java') } })
  })

  it('uses the program on the PATH when that of JAVA_HOME is too old', async () => {
    const home = await fakeJava('home', '11.0.1')
    const onPath = await fakeJava('path', '17.0.1')
    const search = await findJava({ JAVA_HOME: home, PATH: join(onPath, 'bin') })
    expect(search).toMatchObject({ kind: 'found', java: { version: 17, command: 'java' } })
  })

  it('lists the versions that are too old', async () => {
    const onPath = await fakeJava('path', '1.8.0_381')
    expect(await findJava({ PATH: join(onPath, 'bin') })).toEqual({
      kind: 'missing',
      why: 'java is Java 8, which is older than Java 17',
    })
  })

  it('reports that there is none', async () => {
    expect(await findJava({ PATH: dir })).toEqual({ kind: 'missing', why: 'no Java was found' })
  })

  it('distinguishes two builds of one version, because a class archive fits one build', async () => {
    const [one, other] = [await fakeJava('one', '17.0.1'), await fakeJava('other', '17.0.2')]
    const prints = await Promise.all([one, other].map(home => findJava({ PATH: join(home, 'bin') })))
    const [first, second] = prints.map(search => search.kind === 'found' && search.java.fingerprint)
    expect(first).toMatch(/^[0-9a-f]{12}$/)
    expect(second).not.toBe(first)
  })
})
