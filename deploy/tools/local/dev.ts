import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { formatProblem, loadConfigFile } from '../../../src/adapters/config-file/config-file.ts'
import { callerDirectory, type DevPlan, planDev } from './dev-plan.ts'
import { type GuardedProcess, startGuarded } from './guarded-process.ts'
import { findOrStartInfrastructure, type Infrastructure } from './kafka-and-registry.ts'
import { mallocSettings, nodeFlags } from './node-flags.ts'

// `make dev`: starts Kafka and a registry at the configured addresses, then runs all services.

const project = resolve(import.meta.dirname, '../../..')
/** Time that the services get to drain. */
const serviceTimeoutMs = 30_000
/**
 * After ctrl-C, `make dev` waits at most this time for a start in progress. Then it exits, and
 * guards (`guarded-process.ts`) stop the remaining processes.
 */
const startTimeoutMs = 10_000

/** In the order of their start. They are stopped in reverse order. */
const running: { stop(): Promise<void> }[] = []

const say = (text: string): void => void process.stderr.write(`${text}\n`)

async function main(): Promise<number> {
  process.chdir(callerDirectory(process.env, process.cwd()))
  const config = process.env['CONFIG'] || join(project, 'deploy/local/hookline.yaml')
  const loaded = await loadConfigFile(config, process.env)
  if (loaded.kind === 'refused') return refuse(loaded.problems.map(formatProblem))
  const planned = planDev(loaded.settings, process.env)
  if (planned.kind === 'refused') return refuse(planned.problems.map(problem => `${config}: ${problem}`))

  const { operatorListen: listen } = loaded.settings
  if (listen !== undefined)
    say(`the console will be at http://${listen.host}:${listen.port}/console/; sign in with a key of operator.keys`)
  // The child processes do not keep this process alive (`startGuarded`), so this timer does.
  const awake = setInterval(() => {}, 2 ** 30)
  const interrupt = interruption()
  const patience = aborted(interrupt).then(() => delay(startTimeoutMs, undefined, { ref: false }))
  try {
    const end = await Promise.race([runUntilSomethingEnds(config, planned.plan, interrupt), patience])
    if (end !== undefined) say(`make dev stops, because ${end}`)
    return end === undefined ? 0 : 1
  } finally {
    for (let part = running.pop(); part !== undefined; part = running.pop()) await part.stop()
    clearInterval(awake)
  }
}

function refuse(lines: readonly string[]): number {
  for (const line of lines) say(line)
  return 2
}

/** Resolves with a text about the process that ended; `undefined` after an interruption. */
async function runUntilSomethingEnds(
  config: string,
  plan: DevPlan,
  interrupt: AbortSignal,
): Promise<string | undefined> {
  const { kafka, registry } = up(await infrastructure(plan))
  if (interrupt.aborted) return undefined
  const env = { ...process.env, KAFKA_BROKERS: kafka.brokers.join(','), SCHEMA_REGISTRY_URL: registry.url }
  const hookline = (words: string, output: 'shared' | 'stderr'): GuardedProcess => {
    const args = [...nodeFlags, join(project, 'bin/hookline.js'), ...words.split(' '), '--config', config]
    const child = startGuarded({ command: process.execPath, args, env: { ...mallocSettings, ...env }, output })
    up({ stop: () => child.stop(serviceTimeoutMs) })
    return child
  }
  const apply = plan.replicationFactor === undefined ? 'topics apply' : 'topics apply --replication-factor 1'
  const preparations = [apply, 'schemas register'].map(words => ({ words, child: hookline(words, 'stderr') }))
  for (const { words, child } of preparations) {
    const end = await Promise.race([child.ended, aborted(interrupt)])
    if (end === undefined) return undefined
    if (end !== 'exit code 0') return `hookline ${words} ended with ${end}`
  }
  const services = hookline('run', 'shared')
  return Promise.race([
    services.ended.then(how => `the services ended with ${how}`),
    kafka.ended.then(how => `Kafka ended with ${how}`),
    registry.ended.then(how => `the schema registry ended with ${how}`),
    aborted(interrupt),
  ])
}

function infrastructure({ kafkaPort, registryPort }: DevPlan): Promise<Infrastructure> {
  const dataDir = resolve(process.env['DATA_DIR'] || join(project, '.hookline'))
  const place = (name: string, port: number | undefined) => ({ dataDir: join(dataDir, name), ...(port && { port }) })
  return findOrStartInfrastructure({ kafka: place('kafka', kafkaPort), registry: place('registry', registryPort) })
}

function up<T extends { stop(): Promise<void> }>(part: T): T {
  running.push(part)
  return part
}

/**
 * Returns an AbortSignal that the first SIGINT, SIGTERM or SIGHUP aborts. A second signal ends the
 * process.
 */
function interruption(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(1)
      controller.abort()
    })
  }
  return controller.signal
}

const aborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise(done => {
    if (signal.aborted) done(undefined)
    signal.addEventListener('abort', () => done(undefined), { once: true })
  })

try {
  process.exitCode = await main()
} catch (error) {
  say((error as Error).message)
  process.exitCode = 1
}
process.exit()
