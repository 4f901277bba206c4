import { existsSync } from 'node:fs'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Java, javaFlags } from './find-java.ts'
import { type GuardedProcess, startGuarded, tailOf, untilReady } from './guarded-process.ts'
import { makeOnce } from './make-once-in-cache.ts'

/**
 * Maximum start time in ms. Kafka needs 5 s on an idle machine. The limit can be long, because a
 * server that cannot start exits.
 */
const startTimeoutMs = 180_000
/** Writing a class archive takes 2.5 s on an idle machine. */
const archivePatienceMs = 60_000

export interface JavaServerOptions {
  readonly name: string
  readonly java: Java
  /** Additional JVM flags, followed by the class or jar and its arguments. */
  readonly args: readonly string[]
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly dataDir: string
  readonly throwAway?: boolean | undefined
  /** Called repeatedly until the server is ready. */
  readonly isReady: () => Promise<boolean>
}

/**
 * Starts a Java server and resolves when it is ready. Writes `server.log` and `server.pid`.
 * @throws Error with the end of the log
 */
export async function startJavaServer(options: JavaServerOptions): Promise<GuardedProcess> {
  const { name, java, dataDir, throwAway } = options
  const logFile = join(dataDir, 'server.log')
  const server = startGuarded({
    command: java.command,
    args: [...javaFlags, ...options.args],
    env: { ...process.env, ...options.env },
    output: { file: logFile },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(throwAway ? { throwAwayDir: dataDir } : {}),
  })
  const clean = async (): Promise<void> => {
    if (throwAway) await rm(dataDir, { recursive: true, force: true })
  }
  try {
    await writeFile(join(dataDir, 'server.pid'), `${server.pid}\n`)
    await untilReady(server, options.isReady, { everyMs: 20, patienceMs: startTimeoutMs })
  } catch (error) {
    await server.kill()
    const log = await tailOf(logFile)
    await clean()
    throw new Error(`${name} did not start: ${(error as Error).message}\n${log}`, { cause: error })
  }
  return { ...server, stop: patienceMs => server.stop(patienceMs).then(clean) }
}

/**
 * The JVM flag for a class archive (AppCDS), which halves the start time. After a failure, an empty
 * file prevents further tries.
 */
export async function classArchive(
  home: string,
  java: Java,
  start: (dataDir: string, flag: string) => Promise<{ stop(patienceMs: number): Promise<void> }>,
): Promise<readonly string[]> {
  const archive = await makeOnce(join(home, `classes-${java.fingerprint}.jsa`), async temporary => {
    const dataDir = await mkdtemp(join(tmpdir(), 'hookline-archive-'))
    try {
      const server = await start(dataDir, `-XX:ArchiveClassesAtExit=${temporary}`)
      await server.stop(archivePatienceMs)
    } catch {
      // Without an archive, starts are only slower, so this error is ignored.
    }
    await rm(dataDir, { recursive: true, force: true })
    if (!existsSync(temporary)) await writeFile(temporary, '')
  })
  return (await stat(archive)).size > 0 ? [`-XX:SharedArchiveFile=${archive}`] : []
}
