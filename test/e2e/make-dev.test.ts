import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { Kafka, logLevel } from 'kafkajs'
import { freePorts, isFree } from '../../deploy/tools/local/free-ports.ts'
import { processClock as clock } from '../../src/adapters/clock/process-clock.ts'
import { createKafka } from '../../src/adapters/kafka/kafkajs/client.ts'
import { createReader } from '../../src/adapters/kafka/log/topic-reader.ts'
import { silent } from '../support/telemetry/silent-logger.ts'

// The program that `make dev` runs after its installation step.
const dev = resolve(import.meta.dirname, '../../deploy/tools/local/dev.ts')

let dir: string
let firstPort: number
let started: ChildProcess | undefined

const port = (index: number): number => firstPort + index
const configuration = (source: string): string => `
kafka: { brokers: ["127.0.0.1:${port(0)}"] }
topics: { partitions: 2 }
registry: { url: "http://127.0.0.1:${port(1)}/apis/ccompat/v7" }
collector: { listen: "127.0.0.1:${port(2)}" }
ops: { listen: "127.0.0.1:${port(3)}" }
sources: [{ id: web, writeKey: key }]
destinations: [{ id: local, sources: [${source}], webhooks: [{ url: "https://hooks.example.com/" }] }]
`

interface Run {
  readonly process: ChildProcess
  readonly stdout: () => string
  readonly stderr: () => string
  readonly ended: Promise<number | null>
}

async function startDev(config: string): Promise<Run> {
  await writeFile(join(dir, 'hookline.yaml'), config)
  const { KAFKA_BROKERS: _, SCHEMA_REGISTRY_URL: __, ...rest } = process.env
  const env = { ...rest, HOOKLINE_KAFKA: 'jars', CONFIG: 'hookline.yaml', DATA_DIR: 'data' }
  const child = spawn(process.execPath, [dev], { cwd: dir, env, stdio: ['ignore', 'pipe', 'pipe'] })
  started = child
  const text = { stdout: '', stderr: '' }
  child.stdout.on('data', chunk => {
    text.stdout += chunk
  })
  child.stderr.on('data', chunk => {
    text.stderr += chunk
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return { process: child, stdout: () => text.stdout, stderr: () => text.stderr, ended }
}

/** Resolves with the only line on stdout. Rejects if the program ends before it writes the line. */
async function ready(run: Run): Promise<string> {
  while (!run.stdout().includes('\n')) {
    const next = await Promise.race([once(run.process.stdout!, 'data'), run.ended])
    if (!Array.isArray(next)) throw new Error(`make dev ended with ${next}\n${run.stderr()}`)
  }
  return run.stdout()
}

const kafka = (): Kafka => new Kafka({ brokers: [`127.0.0.1:${port(0)}`], logLevel: logLevel.NOTHING })
const topic = 'hookline.dead-letter'

async function writeDeadLetter(): Promise<void> {
  const producer = kafka().producer()
  await producer.connect()
  await producer.send({ topic, acks: -1, messages: [{ key: 'k', value: 'v' }] })
  await producer.disconnect()
}

/** Counts the records with a value: dispatchers also write tombstones to the dead-letter topic. */
async function countDeadLetters(): Promise<number> {
  const client = createKafka(
    { brokers: [`127.0.0.1:${port(0)}`], clientId: 'test', tls: undefined, sasl: undefined },
    silent,
  )
  let count = 0
  await createReader({ kafka: client, clock, logger: silent }).readToEnd(topic, ({ value }) => {
    if (value !== null) count++
  })
  return count
}

const freeAgain = (): Promise<boolean[]> => Promise.all([0, 1, 2, 3].map(index => isFree(port(index))))

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hookline-dev-test-'))
  firstPort = await freePorts(4)
})
afterEach(async () => {
  if (started?.exitCode === null && started.signalCode === null) {
    started.kill('SIGTERM')
    await once(started, 'close')
  }
})
afterAll(() => rm(dir, { recursive: true }))

describe('make dev', () => {
  it('rejects an invalid file before it starts anything', async () => {
    const run = await startDev(configuration('wbe'))
    expect(await run.ended).toBe(2)
    expect(run.stderr()).toMatch(/^hookline\.yaml:8:\d+: destinations\[0\]\.sources\[0\]: .*web/)
    expect(run.stdout()).toBe('')
    expect(existsSync(join(dir, 'data'))).toBe(false)
  })

  it('rejects a Kafka on another machine, unless KAFKA_BROKERS names it', async () => {
    const run = await startDev(configuration('web').replace(/127\.0\.0\.1:\d+"\]/, 'kafka.example.com:9092"]'))
    expect(await run.ended).toBe(2)
    expect(run.stderr()).toMatch(/^hookline\.yaml: kafka\.brokers\[0\]: kafka\.example\.com:9092 is not 127\.0\.0\.1/)
  })

  it('reports once that it is ready, stops everything on SIGTERM, and keeps its data for the next start', async () => {
    const first = await startDev(configuration('web'))
    expect(await ready(first)).toMatch(
      new RegExp(
        `^hookline ready .*ops=http://127.0.0.1:${port(3)} kafka=127.0.0.1:${port(0)} registry=http://127.0.0.1:${port(1)}/apis/ccompat/v7\n$`,
      ),
    )
    await writeDeadLetter()
    first.process.kill('SIGTERM')
    expect(await first.ended).toBe(0)
    expect(await freeAgain()).toEqual([true, true, true, true])

    const second = await startDev(configuration('web'))
    await ready(second)
    expect(await countDeadLetters()).toBe(1)

    process.kill(Number(await readFile(join(dir, 'data/kafka/server.pid'), 'utf8')), 'SIGKILL')
    expect(await second.ended).toBe(1)
    expect(second.stderr()).toContain('make dev stops, because Kafka ended with signal SIGKILL')
    expect(await freeAgain()).toEqual([true, true, true, true])
  })
})
