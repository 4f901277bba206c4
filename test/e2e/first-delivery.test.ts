import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { freePorts } from '../../deploy/tools/local/ports.ts'

/*
 * Runs docs/tutorial/first-delivery.md command by command. Only the ports, the topic prefix and the
 * retry waits differ.
 */

const checkout = resolve(import.meta.dirname, '../..')
const page = readFileSync(join(checkout, 'docs/tutorial/first-delivery.md'), 'utf8')
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)\\n\`\`\`$`, 'gms'))].map(([, block = '']) => block)
const [dev, sink, send, preview, curl, failingSink, sendAgain, ...others] = blocks('sh') as [string, ...string[]]
const [ready, listening, sent, arrived, success, twice] = blocks('text') as [string, ...string[]]

/** Small images have no curl. The tutorial works without this step. */
const hasCurl = spawnSync('curl', ['--version']).error === undefined

const children = new Set<ChildProcess>()
let directory: string
let ports: { collector: number; ops: number; sink: number; operator: number }
let env: NodeJS.ProcessEnv

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hookline-tutorial-'))
  const first = await freePorts(4)
  ports = { collector: first, ops: first + 1, sink: first + 2, operator: first + 3 }
  const config = readFileSync(join(checkout, 'deploy/local/hookline.yaml'), 'utf8')
    .replace('127.0.0.1:8080', `127.0.0.1:${ports.collector}`)
    .replace('127.0.0.1:9464', `127.0.0.1:${ports.ops}`)
    .replace('127.0.0.1:8090', `127.0.0.1:${ports.operator}`)
    .replace('127.0.0.1:9090', `127.0.0.1:${ports.sink}`)
    .replace('prefix: hookline', `prefix: tutorial-${randomUUID().slice(0, 8)}`)
    .replace('schedule: [10s,', 'schedule: [1s,')
  await writeFile(join(directory, 'hookline.yaml'), config)
  env = { ...process.env, CONFIG: join(directory, 'hookline.yaml'), DATA_DIR: join(directory, 'data') }
})
afterAll(async () => {
  for (const child of children) await stop(child)
  await rm(directory, { recursive: true })
})

/** Replaces the ports and paths of a command with those of this run. */
function adapted(command: string): string {
  const node = `'${process.execPath}'`
  return command
    .replace(/^make dev$/, `exec ${node} deploy/tools/local/dev.ts`)
    .replace(/^npx hookline sink/, `exec ${node} bin/hookline.js sink --listen 127.0.0.1:${ports.sink}`)
    .replaceAll('npx hookline', `${node} bin/hookline.js`)
    .replace('deploy/local/hookline.yaml', `'${join(directory, 'hookline.yaml')}'`)
    .replace(':8080', `:${ports.collector}`)
}

/** A pattern for the shown output that accepts other ports, ids and times. */
function like(shown: string): RegExp {
  const varies = [/127\.0\.0\.1:\d+/, /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/, /\d\d:\d\d:\d\d\.\d{3}/]
  const any = new RegExp(varies.map(({ source }) => source).join('|'), 'g')
  const fixed = shown.split(any).map(piece => piece.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${fixed.join(`(?:${any.source})`)}$`)
}

function start(command: string): { child: ChildProcess; nextLine: () => Promise<string> } {
  const child = spawn('sh', ['-c', adapted(command)], { cwd: checkout, env, stdio: ['ignore', 'pipe', 'pipe'] })
  children.add(child)
  let complaints = ''
  child.stderr.on('data', chunk => {
    complaints += chunk
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    child,
    async nextLine() {
      const { value, done } = await lines.next()
      if (done === true) throw new Error(`${command} has ended\n${complaints}`)
      return value
    },
  }
}

async function stop(child: ChildProcess): Promise<void> {
  children.delete(child)
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGINT')
  await once(child, 'exit')
}

async function run(command: string): Promise<{ code: number; out: string; err: string }> {
  const child = spawn('sh', ['-c', adapted(command)], { cwd: checkout, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: code as number, out, err }
}

it('every command of the page works as described', async () => {
  expect(others).toEqual([])
  const services = start(dev)
  expect(await services.nextLine()).toMatch(like(ready))
  const customer = start(sink as string)
  expect(await customer.nextLine()).toMatch(like(listening as string))

  const first = await run(send as string)
  expect(first).toMatchObject({ code: 0, err: '' })
  expect(first.out).toMatch(like(`${sent}\n`))
  const [, , messageId] = first.out.split(/[ :]/)
  const line = await customer.nextLine()
  expect(line).toMatch(like(arrived as string))
  expect(line).toContain(messageId)

  // In the tutorial's terminal the variable is exported.
  env = { ...env, HOOKLINE_CONFIG: env['CONFIG'] }
  const shown = await run(preview as string)
  expect(shown).toMatchObject({ code: 0, err: '' })
  expect(shown.out).toMatch(/^X-Signature: [0-9a-f]{40}$/m)

  if (hasCurl) {
    expect(await run(curl as string)).toEqual({ code: 0, out: success, err: '' })
    expect(await customer.nextLine()).toMatch(like(arrived as string))
  }
  await stop(customer.child)

  const failing = start(failingSink as string)
  expect(await failing.nextLine()).toMatch(like(listening as string))
  expect(await run(sendAgain as string)).toMatchObject({ code: 0, err: '' })
  const tries = [await failing.nextLine(), await failing.nextLine()]
  expect(tries.join('\n')).toMatch(like(twice as string))
  const idOf = (each: string): string | undefined => each.split(' ')[3]
  expect(idOf(tries[0] ?? '')).toBe(idOf(tries[1] ?? ''))
})
