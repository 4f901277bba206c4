import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ContainerRuntimeClient } from 'testcontainers'
import { type Availability, unavailable } from './first-available-option.ts'
import { clusterMetadata } from './request-cluster-metadata.ts'
import { asEnvironment, singleBroker } from './server-properties.ts'

/** The image that the Kafka module of testcontainers uses in its own tests. */
const stockImage = 'confluentinc/cp-kafka:8.2.0'
/** The broker's port for clients outside the container. */
const clientPort = 9093
const dataInside = '/var/lib/kafka/data'
const daemonTimeoutMs = 10_000
const pullTimeoutMs = 3 * 60_000
const startTimeoutMs = 180_000

export interface KafkaContainerOptions {
  readonly image?: string | undefined
  /** Port on this machine. Default: chosen by Docker. */
  readonly port?: number | undefined
  /** Keeps the data in a Docker volume. Without a directory, the data is deleted at the stop. */
  readonly dataDir?: string | undefined
  readonly properties?: Readonly<Record<string, string>> | undefined
}

export interface KafkaContainer {
  readonly address: string
  /** Resolves with the cause when the container ends. */
  readonly ended: Promise<string>
  stop(): Promise<void>
}

/**
 * Starts a broker in a container. Resolves with `unavailable` without Docker or the image, or if
 * `reaperProblem` finds a problem.
 * @throws Error when the container or broker does not start
 */
export async function tryKafkaContainer(options: KafkaContainerOptions): Promise<Availability<KafkaContainer>> {
  const { image = stockImage } = options
  const docker = await dockerDaemon()
  if (docker === undefined) {
    return unavailable('no Docker daemon responds', 'Install and start Docker, so that the docker command works')
  }
  const refusal = await imageRefusal(docker, image)
  if (refusal !== undefined) {
    return unavailable(
      `no image ${image}: ${refusal}`,
      'Allow Docker to pull it, or set KAFKA_TEST_IMAGE to a local image',
    )
  }
  const reaperRefusal = await reaperProblem(docker)
  if (reaperRefusal !== undefined) {
    const remedy = 'Allow Docker to pull testcontainers/ryuk, or disable it with TESTCONTAINERS_RYUK_DISABLED=true'
    return unavailable(`testcontainers cannot start its cleanup container ryuk: ${reaperRefusal}`, remedy)
  }
  return { kind: 'available', value: await start(docker, { ...options, image }) }
}

const oneLine = (error: unknown): string =>
  String((error as Error).message ?? error)
    .split('\n')[0]!
    .trim()

/** Loads testcontainers only when needed, because loading it takes 0.25 s. */
async function dockerDaemon(): Promise<ContainerRuntimeClient | undefined> {
  const { getContainerRuntimeClient } = await import('testcontainers')
  return Promise.race([
    getContainerRuntimeClient().catch(() => undefined),
    delay(daemonTimeoutMs, undefined, { ref: false }),
  ])
}

async function imageRefusal(docker: ContainerRuntimeClient, image: string): Promise<string | undefined> {
  const { ImageName } = await import('testcontainers')
  const name = ImageName.fromString(image)
  try {
    if (await docker.image.exists(name)) return undefined
    const refusal = await pull(docker, name.string)
    return (await docker.image.exists(name)) ? undefined : refusal
  } catch (error) {
    return oneLine(error)
  }
}

/**
 * Pulls an image. The response is a stream of JSON lines. Aborting the request cancels the pull.
 */
async function pull(docker: ContainerRuntimeClient, image: string): Promise<string> {
  const abortSignal = AbortSignal.timeout(pullTimeoutMs)
  try {
    let text = ''
    for await (const chunk of await docker.container.dockerode.pull(image, { abortSignal })) text += chunk
    return /"error":"([^"]*)"/.exec(text)?.[1] ?? 'the image is missing after the pull'
  } catch (error) {
    return abortSignal.aborted ? `not pulled within ${pullTimeoutMs / 60_000} minutes` : oneLine(error)
  }
}

/**
 * Starts the reaper of testcontainers, a container that removes the Kafka container when this
 * process is killed. Resolves with the problem, if any.
 */
async function reaperProblem(docker: ContainerRuntimeClient): Promise<string | undefined> {
  const { getReaper } = await import('testcontainers')
  return getReaper(docker).then(() => undefined, oneLine)
}

async function start(
  docker: ContainerRuntimeClient,
  options: KafkaContainerOptions & { image: string },
): Promise<KafkaContainer> {
  const definition = await define(options)
  const container = await definition.start()
  const host = container.getHost()
  const port = container.getMappedPort(clientPort)
  const ended = docker.container
    .getById(container.getId())
    .wait()
    .then(({ StatusCode }) => `exit code ${StatusCode}`, oneLine)
  const stop = async (): Promise<void> => void (await container.stop())
  try {
    await untilItAnswers(host, port, ended)
  } catch (error) {
    await stop()
    throw error
  }
  return { address: `${host}:${port}`, ended, stop }
}

async function define({ image, port, dataDir, properties }: KafkaContainerOptions & { image: string }) {
  const { KafkaContainer: Kafka } = await import('@testcontainers/kafka')
  /**
   * testcontainers resets the exposed ports before the start, so this class sets the port after the
   * reset.
   */
  class KafkaOnPort extends Kafka {
    protected override async beforeContainerCreated(): Promise<void> {
      await super.beforeContainerCreated()
      if (port !== undefined) this.withExposedPorts({ container: clientPort, host: port })
    }
  }
  const definition = new KafkaOnPort(image)
    .withKraft()
    .withEnvironment(asEnvironment({ ...singleBroker, ...properties }))
  return dataDir === undefined
    ? definition
    : definition.withBindMounts([{ source: await volumeOf(dataDir), target: dataInside }])
}

/**
 * Waits until Kafka responds. testcontainers waits only until the port is open, and Docker opens
 * the port before Kafka listens.
 */
async function untilItAnswers(host: string, port: number, ended: Promise<string>): Promise<void> {
  const over = { how: '' }
  void ended.then(how => {
    over.how = how
  })
  const deadline = performance.now() + startTimeoutMs
  while (over.how === '' && performance.now() < deadline) {
    const found = await clusterMetadata(host, port).catch(() => undefined)
    if ((found?.brokers.length ?? 0) > 0) return
    await delay(50)
  }
  throw new Error(`Kafka's container did not start: ${over.how || `no response within ${startTimeoutMs / 1000} s`}`)
}

/**
 * Returns the name of the Docker volume for the data. A bind mount is not used, because its files
 * would belong to the image's user. `make clean` reads the file `docker-volume`.
 */
async function volumeOf(dataDir: string): Promise<string> {
  const name = `hookline-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`
  await mkdir(dataDir, { recursive: true })
  await writeFile(join(dataDir, 'docker-volume'), name)
  return name
}
