import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { findJava, type Java } from './java.ts'
import { classArchive, startJavaServer } from './java-server.ts'
import { fetchWithMaven } from './maven.ts'
import { assertFree, freePorts } from './ports.ts'
import { cacheDirectory, makeOnce } from './user-cache.ts'

const version = '2.6.13.Final'
const artifact = `io.apicurio:apicurio-registry-app:${version}:tar.gz:all`
const jar = `apicurio-registry-app-${version}-runner.jar`
/** Under which Apicurio speaks Confluent's API. */
export const registryPath = '/apis/ccompat/v7'

export interface RegistryOptions {
  readonly dataDir: string
  /** On 127.0.0.1. */
  readonly port: number
  /** `file` survives a restart on the same directory. */
  readonly store: 'memory' | 'file'
  /** `stop` removes the data directory, and so does the guard when we are killed. */
  readonly throwAway?: boolean
}

export interface Registry {
  /** With the path under which it speaks Confluent's API, no slash at the end. */
  readonly url: string
  readonly pid: number
  /** Resolves with how the process ended, whoever ended it. */
  readonly ended: Promise<string>
  /** SIGTERM, and SIGKILL when that did not end it within `patienceMs` (five seconds). */
  stop(patienceMs?: number): Promise<void>
  /** SIGKILL: a crash. */
  kill(): Promise<void>
}

const directory = (): string => join(cacheDirectory(), `apicurio-${version}`)

/** Whether the registry is here already, so that neither Maven nor a network is needed. */
export const registryIsCached = (): boolean => existsSync(directory())

/**
 * Starts a schema registry, Apicurio fetched with Maven (142 MB the first time), and resolves when it answers.
 * @throws when no Java fits, the port is in use, or it does not come up within three minutes (the message ends with the end of its log).
 */
export async function startRegistry(options: RegistryOptions): Promise<Registry> {
  const search = await findJava()
  if (search.kind === 'missing') throw new Error(`The schema registry needs Java: ${search.why}`)
  const { java } = search
  await assertFree(options.port, 'The schema registry')
  const home = await makeOnce(directory(), async temporary => {
    await mkdir(temporary)
    const args = [`-Dartifact=${artifact}`, `-DoutputDirectory=${temporary}`]
    await fetchWithMaven('Apicurio Registry (142 MB)', 'unpack', args)
  })
  const archive = await classArchive(home, java, async (dataDir, flag) =>
    launch(java, home, { dataDir, port: await freePorts(1), store: 'memory' }, [flag]),
  )
  return launch(java, home, options, archive)
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
    // It looks for its libraries beside itself.
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

/** Apicurio lets every schema follow every other one; Confluent's default is BACKWARD, and what is tested should meet the same. */
async function checkAsConfluentDoes(url: string): Promise<void> {
  const response = await fetch(`${url}/config`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: '{"compatibility":"BACKWARD"}',
  })
  if (!response.ok) throw new Error(`The schema registry refused its compatibility level: ${await response.text()}`)
}
