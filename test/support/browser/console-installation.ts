import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { RunningService } from '../../../deploy/tools/local/hookline-process.ts'
import { configFolder } from '../config/config-folder.ts'
import { buildConsole } from '../console/built-console.ts'
import { type ConfigurationOverrides, startInstallation, type TestInstallation } from '../process/test-installation.ts'
import { RecordingReceiver } from '../webhook/recording-receiver.ts'

export const operateKey = 'operator-key-of-ada'
export const readKey = 'read-key-of-the-dashboard'

/** An installation with the console, an endpoint, and a destination that sends to it. */
export interface ConsoleInstallation {
  readonly installation: TestInstallation
  readonly service: RunningService
  readonly receiver: RecordingReceiver
  readonly url: string
  close(): Promise<void>
}

interface ProcessOptions {
  /** Added to the environment of the process. */
  readonly own?: NodeJS.ProcessEnv
  /** Added to the arguments of the process. */
  readonly words?: readonly string[]
}

/** Starts an installation with the console. Its destination `crm` sends to `receiver`. */
export async function startConsoleInstallation(
  overrides: ConfigurationOverrides = {},
  { own, words }: ProcessOptions = {},
): Promise<ConsoleInstallation> {
  await buildConsole()
  const receiver = await RecordingReceiver.started()
  const folder = await configFolder({ 'encryption.key': randomBytes(32).toString('hex') })
  const installation = await startInstallation({
    log: { level: 'error' },
    operator: {
      listen: '127.0.0.1:0',
      keys: [
        { name: 'ada', role: 'operate', key: operateKey },
        { name: 'dashboard', role: 'read', key: readKey },
      ],
      encryptionKeyFile: join(folder, 'encryption.key'),
    },
    destinations: [{ id: 'crm', sources: ['web'], sharedSecret: 'secret-of-crm', webhooks: [{ url: receiver.url }] }],
    ...overrides,
  })
  const service = await installation.run(own, words)
  return {
    ...{ installation, service, receiver, url: service.operator ?? '' },
    async close() {
      await installation.close()
      await receiver.close()
    },
  }
}

export async function signIn(page: Page, url: string, key = operateKey): Promise<void> {
  await page.goto(`${url}/console/`)
  await page.getByLabel('Operator key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
}
