import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from '@jest/globals'
import { formatProblem, type Loaded, loadConfigFile } from '../../../src/adapters/config-file/config-file.ts'

const made: string[] = []

/**
 * Creates a directory with these files, whose names can contain folders. The directory is removed
 * after all tests of the test file.
 */
export async function configFolder(files: Readonly<Record<string, string | Uint8Array>> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hookline-config-'))
  made.push(folder)
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name)
    await mkdir(join(path, '..'), { recursive: true })
    await writeFile(path, content)
  }
  return folder
}

afterAll(() => Promise.all(made.splice(0).map(folder => rm(folder, { recursive: true, force: true }))))

/** Loads a configuration file. @throws an error with the problems of a refused file */
export async function loadValid(...given: Parameters<typeof loadConfigFile>): Promise<Loaded> {
  const result = await loadConfigFile(...given)
  if (result.kind === 'refused') throw new Error(result.problems.map(formatProblem).join('\n'))
  return result
}
