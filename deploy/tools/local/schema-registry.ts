import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fetchWithMaven } from './fetch-with-maven.ts'
import { findJava, type Java, oldestJava } from './find-java.ts'
import { assertFree, freePorts } from './free-ports.ts'
import { classArchive, startJavaServer } from './java-server.ts'
import { cacheDirectory, makeOnce } from './make-once-in-cache.ts'

export const registryVersion = '2.6.13.Final'
const artifact = `io.apicurio:apicurio-registry-app:${registryVersion}:tar.gz:all`
const jar = `apicurio-registry-app-${registryVersion}-runner.jar`
/** The path of the Confluent-compatible API in Apicurio. */
export const registryPath = '/apis/ccompat/v7'

export interface RegistryOptions {
  readonly dataDir: string
  readonly port: number
  /** With `file`, schemas survive a restart. */
  readonly store: 'memory' | 'file'
  /** Deletes the data directory at `stop`, or when this process is killed. */
  readonly throwAway?: boolean
}

export interface Registry {
  /** URL of the Confluent-compatible API, without a trailing slash. */
  readonly url: string
  readonly pid: number
  /** Resolves with the cause when the process ends. */
  readonly ended: Promise<string>
  /** `patienceMs`: time from SIGTERM to SIGKILL, by default 5 s. */
  stop(patienceMs?: number): Promise<void>
  kill(): Promise<void>
}

const directory = (): string => join(cacheDirectory(), `apicurio-${registryVersion}`)

/** Whether the registry is in the cache, so that Maven and the network are not needed. */
export const registryIsCached = (): boolean => existsSync(directory())

/**
 * Starts the Apicurio schema registry. Resolves when it responds.
 * @throws when Java is missing or too old, the port is in use, or the start takes longer than 3
 * minutes
 */
export async function startRegistry(options: RegistryOptions): Promise<Registry> {
  const search = await findJava()
  if (search.kind === 'missing')
    throw new Error(
      `The schema registry needs Java ${oldestJava} or newer, but ${search.why}: install Java ${oldestJava}, or set JAVA_HOME to its directory`,
    )
  const { java } = search
  await assertFree(options.port, 'The schema registry')
  const { home } = await registryFiles()
  const archive = await classArchive(home, java, async (dataDir, flag) =>
    launch(java, home, { dataDir, port: await freePorts(1), store: 'memory' }, [flag]),
  )
  return launch(java, home, options, archive)
}

/** The registry in the user's cache. Maven downloads it the first time (142 MB). */
export async function registryFiles(): Promise<{ readonly home: string; readonly jar: string }> {
  const home = await makeOnce(directory(), async temporary => {
    await mkdir(temporary)
    const args = [`-Dartifact=${artifact}`, `-DoutputDirectory=${temporary}`]
    await fetchWithMaven('Apicurio Registry (142 MB)', 'unpack', args)
  })
  return { home, jar }
}

async function launch(java: Java, home: string, options: RegistryOptions, jvm: readonly string[]): Promise<Registry> {
  const { dataDir, port, store, throwAway } = options
  await mkdir(dataDir, { recursive: true })
  const url = `http://127.0.0.1:${port}${registryPath}`
  const server = await startJavaServer({
    name: 'The schema registry',
    java,
    args: [
      ...jvm,
      '-Dquarkus.http.host=127.0.0.1',
      `-Dquarkus.http.port=${port}`,
      '-Dquarkus.log.level=WARN',
      '-jar',
      jar,
    ],
    // Apicurio loads its libraries from the working directory.
    cwd: home,
    env: {
      REGISTRY_DATASOURCE_URL:
        store === 'memory' ? 'jdbc:h2:mem:registry' : `jdbc:h2:file:${join(dataDir, 'registry')}`,
    },
    dataDir,
    throwAway,
    isReady: () => answers(`${url}/subjects`),
  })
  await checkAsConfluentDoes(url)
  return { ...server, url }
}

const answers = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    async response => {
      await response.body?.cancel()
      return response.ok
    },
    () => false,
  )

/** Sets Confluent's default compatibility, BACKWARD. Apicurio's default accepts any schema. */
async function checkAsConfluentDoes(url: string): Promise<void> {
  const response = await fetch(`${url}/config`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: '{"compatibility":"BACKWARD"}',
  })
  if (!response.ok)
    throw new Error(`The schema registry rejected the compatibility level BACKWARD: ${await response.text()}`)
}
