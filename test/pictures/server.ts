import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startGuarded, tailOf } from '../../deploy/tools/local/guarded-process.ts'
import { freePorts } from '../../deploy/tools/local/ports.ts'
import { until } from '../support/kafka-admin.ts'

/** A program that others made and that answers over HTTP, on a port of 127.0.0.1 of its own. */
export interface Server {
  readonly url: string
  close(): Promise<void>
}

export interface Program {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  /** Answers with a success as soon as the program is ready. */
  readonly readyAt: string
}

/**
 * @param prepare writes what it reads into a folder that is removed in the end, and tells how it is started there
 * @throws Error with the end of its log when it ends instead of becoming ready
 */
export async function startServer(prepare: (directory: string, port: number) => Promise<Program>): Promise<Server> {
  const directory = await mkdtemp(join(tmpdir(), 'hookline-pictures-'))
  const port = await freePorts(1)
  const url = `http://127.0.0.1:${port}`
  const { name, command, args, env = {}, readyAt } = await prepare(directory, port)
  const log = join(directory, 'log')
  const running = startGuarded({
    ...{ command, args, env: { ...process.env, ...env } },
    ...{ output: { file: log }, throwAwayDir: directory },
  })
  const died = running.ended.then(async how => {
    throw new Error(`${name} has ended with ${how}:\n${await tailOf(log)}`)
  })
  const isReady = async (): Promise<true | undefined> =>
    (await fetch(url + readyAt).catch(() => undefined))?.ok || undefined
  await Promise.race([until(isReady), died])
  died.catch(() => undefined)
  return {
    url,
    close: async () => {
      await running.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
