import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { freePorts } from '../../deploy/tools/local/free-ports.ts'
import { checkout } from '../support/docs/pages.ts'
import { blocksIn, outputLike, Terminals } from '../support/docs/tutorial-blocks-and-terminals.ts'

/* Runs the commands of docs/tutorial/first-delivery.md with other ports, names and retry waits. */

const page = readFileSync(join(checkout, 'docs/tutorial/first-delivery.md'), 'utf8')
const [dev, sink, send, preview, curl, failingSink, sendAgain, ...others] = blocksIn(page, 'sh') as [
  string,
  ...string[],
]
const [ready, listening, sent, arrived, success, twice] = blocksIn(page, 'text') as [string, ...string[]]

/**
 * Small container images do not have curl. Without curl, the test leaves out the step with curl.
 */
const hasCurl = spawnSync('curl', ['--version']).error === undefined

let directory: string
let ports: { collector: number; ops: number; sink: number; operator: number }
let terminals: Terminals

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
  terminals = new Terminals(adapted)
  const own = { CONFIG: join(directory, 'hookline.yaml'), DATA_DIR: join(directory, 'data') }
  terminals.env = { ...terminals.env, ...own }
})
afterAll(async () => {
  await terminals.stopAll()
  await rm(directory, { recursive: true })
})

function adapted(command: string): string {
  const node = `'${process.execPath}'`
  return command
    .replace(/^make dev$/, `exec ${node} deploy/tools/local/dev.ts`)
    .replace(/^npx hookline sink/, `exec ${node} bin/hookline.js sink --listen 127.0.0.1:${ports.sink}`)
    .replaceAll('npx hookline', `${node} bin/hookline.js`)
    .replace('deploy/local/hookline.yaml', `'${join(directory, 'hookline.yaml')}'`)
    .replace(':8080', `:${ports.collector}`)
}

it('every command of the page works as described', async () => {
  expect(others).toEqual([])
  const services = terminals.start(dev)
  expect(await services.nextLine()).toMatch(outputLike(ready))
  const customer = terminals.start(sink as string)
  expect(await customer.nextLine()).toMatch(outputLike(listening as string))

  const first = await terminals.run(send as string)
  expect(first).toMatchObject({ code: 0, err: '' })
  expect(first.out).toMatch(outputLike(`${sent}\n`))
  const [, , messageId] = first.out.split(/[ :]/)
  const line = await customer.nextLine()
  expect(line).toMatch(outputLike(arrived as string))
  expect(line).toContain(messageId)

  // The reader of the tutorial exports this variable in the terminal.
  terminals.env = { ...terminals.env, HOOKLINE_CONFIG: terminals.env['CONFIG'] }
  const shown = await terminals.run(preview as string)
  expect(shown).toMatchObject({ code: 0, err: '' })
  expect(shown.out).toMatch(/^X-Signature: [0-9a-f]{40}$/m)

  if (hasCurl) {
    expect(await terminals.run(curl as string)).toEqual({ code: 0, out: success, err: '' })
    expect(await customer.nextLine()).toMatch(outputLike(arrived as string))
  }
  await terminals.stop(customer.child)

  const failing = terminals.start(failingSink as string)
  expect(await failing.nextLine()).toMatch(outputLike(listening as string))
  expect(await terminals.run(sendAgain as string)).toMatchObject({ code: 0, err: '' })
  const tries = [await failing.nextLine(), await failing.nextLine()]
  expect(tries.join('\n')).toMatch(outputLike(twice as string))
  const idOf = (each: string): string | undefined => each.split(' ')[3]
  expect(idOf(tries[0] ?? '')).toBe(idOf(tries[1] ?? ''))
})
