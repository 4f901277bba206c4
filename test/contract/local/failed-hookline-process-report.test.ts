import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { hookline, startService } from '../../../deploy/tools/local/hookline-process.ts'

const logFile = async (): Promise<string> =>
  join(await mkdtemp(join(tmpdir(), 'hookline-service-test-')), 'service.log')

/** An environment in which every Node process kills itself before it runs its program. */
const killed = {
  ...process.env,
  NODE_OPTIONS: `--import "data:text/javascript,process.kill(process.pid,'SIGKILL')"`,
}

it('a service that does not start is reported with the end of its log', async () => {
  await expect(startService('/nowhere/hookline.yaml', await logFile())).rejects.toThrow(
    /^hookline run ended with exit code 2 before it was ready; its log:\n.*\/nowhere\/hookline\.yaml/s,
  )
})

it('a process that ended by a signal is reported with the signal', async () => {
  await expect(startService('none.yaml', await logFile(), killed)).rejects.toThrow(
    'hookline run ended with signal SIGKILL before it was ready',
  )
  await expect(hookline('none.yaml', ['topics', 'check'], killed)).rejects.toThrow(
    'hookline topics check ended with signal SIGKILL',
  )
})
