import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { freePorts } from '../../deploy/tools/local/free-ports.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { spawnRun } from '../support/process/starting-process.ts'
import { startInstallation, type TestInstallation } from '../support/process/test-installation.ts'

const closing = closingAfterEach()

let installation: TestInstallation
beforeAll(async () => {
  installation = await startInstallation({})
})
afterAll(() => installation?.close())

/** Starts `hookline run` with a new topic prefix, so no topic and no schema exists. */
async function startBeforeSetup(...words: readonly string[]) {
  const ops = await freePorts(1)
  await installation.configure({
    topics: { prefix: `${installation.topics.events}.${ops}`, partitions: 4, replicationFactor: 1 },
    ops: { listen: `127.0.0.1:${ops}` },
  })
  const starting = spawnRun(['--config', installation.configFile, ...words])
  closing({ close: async () => void starting.child.kill('SIGKILL') })
  const statuses = (): Promise<readonly number[]> =>
    Promise.all(['/livez', '/readyz'].map(async path => (await fetch(`http://127.0.0.1:${ops}${path}`)).status))
  return { ...starting, statuses }
}

it('hookline run exits with 1 when topics are missing', async () => {
  const { exited, logs } = await startBeforeSetup()
  await logs('create them with: hookline topics apply')
  expect(await exited).toBe(1)
})

it('hookline run --wait-for-setup waits for the topics, then for the schemas, and becomes ready', async () => {
  const { child, exited, ready, logs, statuses } = await startBeforeSetup('--wait-for-setup')
  await logs('create them with: hookline topics apply')
  expect(await statuses()).toEqual([200, 503])
  await installation.command('topics', 'apply')
  await logs('hookline schemas register')
  expect(await statuses()).toEqual([200, 503])
  await installation.command('schemas', 'register')
  await ready
  child.kill('SIGTERM')
  expect(await exited).toBe(0)
})

it('SIGTERM ends a process that waits for topics with 0', async () => {
  const { child, exited, logs } = await startBeforeSetup('--wait-for-setup')
  await logs('create them with: hookline topics apply')
  child.kill('SIGTERM')
  expect(await exited).toBe(0)
})
