import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { freePorts } from '../../deploy/tools/local/free-ports.ts'
import { checkout } from '../support/docs/pages.ts'
import { blocksIn, outputLike, Terminals } from '../support/docs/tutorial-blocks-and-terminals.ts'
import { until } from '../support/kafka/admin.ts'

/*
 * Runs the commands of docs/tutorial/destinations-by-command.md with other ports, names and times.
 */

const page = readFileSync(join(checkout, 'docs/tutorial/destinations-by-command.md'), 'utf8')
const [secrets, dev, sink, add, send, rotate, sinkWithBoth, sendAgain, sinkWithNew, sendLast, remove, ...others] =
  blocksIn(page, 'sh') as [string, ...string[]]
const [ready, listening, added, arrived, rotated, removed] = blocksIn(page, 'text') as [string, ...string[]]
const [configuration = ''] = blocksIn(page, 'yaml')

let directory: string
let ports: readonly number[]
let terminals: Terminals

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hookline-tutorial-'))
  const first = await freePorts(4)
  ports = [first, first + 1, first + 2, first + 3]
  terminals = new Terminals(adapted)
  const url = `http://127.0.0.1:${ports[2]}`
  terminals.env = { ...terminals.env, DATA_DIR: join(directory, 'data'), HOOKLINE_OPERATOR_URL: url }
})
afterAll(async () => {
  await terminals.stopAll()
  await rm(directory, { recursive: true })
})

const withPorts = (text: string): string =>
  ['8080', '9464', '8090', '9090'].reduce(
    (changed, port, index) => changed.replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${ports[index]}`),
    text,
  )

function adapted(command: string): string {
  const node = `'${process.execPath}'`
  return withPorts(command)
    .replace(/^make dev CONFIG=(\S+)$/, `CONFIG=$1 exec ${node} deploy/tools/local/dev.ts`)
    .replace(/^npx hookline sink/, `exec ${node} bin/hookline.js sink --listen 127.0.0.1:${ports[3]}`)
    .replaceAll('npx hookline', `${node} bin/hookline.js`)
    .replaceAll('.hookline/tutorial', `'${directory}'`)
    .replace('--overlap 30s', '--overlap 3s')
}

it('every command of the page works as described', async () => {
  expect(others).toEqual([])
  expect(await terminals.run(secrets)).toEqual({ code: 0, out: '', err: '' })
  const prefix = `tutorial-${randomUUID().slice(0, 8)}`
  const config = withPorts(configuration).replace('topics: {', `topics: { prefix: ${prefix},`)
  await writeFile(join(directory, 'hookline.yaml'), config)
  const services = terminals.start(dev as string)
  expect(await services.nextLine()).toMatch(outputLike(ready as string))
  const customer = terminals.start(sink as string)
  expect(await customer.nextLine()).toMatch(outputLike(listening as string))

  expect(await terminals.run(add as string)).toEqual({
    code: 0,
    out: expect.stringMatching(outputLike(`${added}\n`)),
    err: '',
  })
  // The reader of the tutorial exports these variables in the terminal.
  const own = {
    HOOKLINE_CONFIG: join(directory, 'hookline.yaml'),
    HOOKLINE_OPERATOR_KEY_FILE: join(directory, 'operator.key'),
  }
  terminals.env = { ...terminals.env, ...own }
  expect(await terminals.run(add as string)).toMatchObject({ code: 0, out: 'destinations: 1 unchanged\n' })

  const isSent = { code: 0, err: '' }
  expect(await terminals.run(send as string)).toMatchObject(isSent)
  expect(await customer.nextLine()).toMatch(outputLike(arrived as string))

  const rotation = await terminals.run(rotate as string)
  expect(rotation).toEqual({ code: 0, out: '', err: expect.stringMatching(outputLike(`${rotated}\n`)) })
  const rotatesAt = Date.parse(/until (\S+)/.exec(rotation.err)?.[1] ?? '')
  await terminals.stop(customer.child)
  const prepared = terminals.start(sinkWithBoth as string)
  await prepared.nextLine()
  expect(await terminals.run(sendAgain as string)).toMatchObject(isSent)
  expect(await prepared.nextLine()).toMatch(outputLike(arrived as string))

  await until(async () => (Date.now() > rotatesAt ? true : undefined))
  expect(await terminals.run(sendAgain as string)).toMatchObject(isSent)
  expect(await prepared.nextLine()).toMatch(outputLike(arrived as string))
  await terminals.stop(prepared.child)
  const renewed = terminals.start(sinkWithNew as string)
  await renewed.nextLine()
  expect(await terminals.run(sendLast as string)).toMatchObject(isSent)
  expect(await renewed.nextLine()).toMatch(outputLike(arrived as string))

  expect(await terminals.run(remove as string)).toEqual({ code: 0, out: `${removed}\n`, err: '' })
})
