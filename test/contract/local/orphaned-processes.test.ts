import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from '@jest/globals'
import { isAlive } from '../../../deploy/tools/local/file-lock.ts'

const local = resolve(import.meta.dirname, '../../../deploy/tools/local')

/** A program that starts a sleeping child process, prints the child's process id, and waits. */
const parent = (throwAwayDir: string): string => `
  import { startGuarded } from ${JSON.stringify(join(local, 'guarded-process.ts'))}
  const child = startGuarded({ command: 'sleep', args: ['600'], output: 'stderr', throwAwayDir: ${JSON.stringify(throwAwayDir)} })
  console.log(child.pid)
  setInterval(() => {}, 1000)
`

it('a server ends and its data is deleted when the process that started it is killed', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'hookline-orphan-test-'))
  const runner = spawn(process.execPath, ['--input-type=module', '--eval', parent(dataDir)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(runner.stdout, 'data')
  const pid = Number(String(line).trim())
  expect(isAlive(pid)).toBe(true)
  runner.kill('SIGKILL')
  // Polls until the timeout of the test, because Node does not report the end of a process that
  // another process started.
  while (isAlive(pid) || existsSync(dataDir)) await delay(20)
})

/**
 * A program that starts a service, and prints a line when the guard of the service runs. The service
 * only writes its own process id to `log`, and waits.
 */
const starter = (log: string): string => `
  import { startService } from ${JSON.stringify(join(local, 'hookline-process.ts'))}
  const never = 'data:text/javascript,process._rawDebug(process.pid);await new Promise(() => setInterval(() => {}, 1e6))'
  const started = startService('none.yaml', ${JSON.stringify(log)}, { ...process.env, NODE_OPTIONS: '--import "' + never + '"' })
  console.log('guarded')
  await started
`

it('a service that is still starting ends when the process that started it is killed', async () => {
  const log = join(await mkdtemp(join(tmpdir(), 'hookline-orphan-test-')), 'service.log')
  const runner = spawn(process.execPath, ['--input-type=module', '--eval', starter(log)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(runner.stdout, 'data')
  const logged = (): Promise<string> => readFile(log, 'utf8').catch(() => '')
  while (!(await logged()).endsWith('\n')) await delay(20)
  const pid = Number(await logged())
  expect(isAlive(pid)).toBe(true)
  runner.kill('SIGKILL')
  while (isAlive(pid)) await delay(20)
})
