import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { findChromium } from '../../../../deploy/tools/local/find-chromium.ts'

const emptyFolder = () => mkdtemp(join(tmpdir(), 'hookline-chromium-'))
const find = async (env: NodeJS.ProcessEnv) => {
  const log: string[] = []
  const path = await findChromium(env, line => void log.push(line))
  return { path, log }
}

it('uses CHROMIUM before a program on the PATH', async () => {
  const folder = await emptyFolder()
  await writeFile(join(folder, 'chromium'), '')
  await writeFile(join(folder, 'mine'), '')
  const mine = join(folder, 'mine')
  expect(await find({ PATH: folder, CHROMIUM: mine })).toEqual({ path: mine, log: ['Chromium: uses CHROMIUM'] })
  const found = await find({ PATH: `/nowhere:${folder}` })
  expect(found.path).toBe(join(folder, 'chromium'))
})

it('names each missing requirement, and what to do', async () => {
  const env = { PATH: await emptyFolder(), CHROMIUM: '/nowhere/chromium', XDG_CACHE_HOME: await emptyFolder() }
  const failure = await find(env).catch((error: Error) => error.message)
  expect(failure).toMatch(/^Chromium is not available\. Use one of these options:\n/)
  expect(failure).toContain('  - CHROMIUM: /nowhere/chromium does not exist. Set it to the path of Chromium or Chrome.')
  expect(failure).toContain('  - the PATH: none of chromium, chromium-browser, google-chrome is installed.')
  expect(failure).toMatch(/ {2}- the package of Debian: (apt-get failed: .+|only root can install it)\. /)
})
