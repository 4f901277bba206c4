import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from '@jest/globals'
import { closingAfterEach } from '../support/cleanup.ts'
import { configFolder } from '../support/config/config-folder.ts'
import { testSecret } from '../support/secret-scan/make-and-find-test-secrets.ts'
import { answer, answering, startScriptedServer } from '../support/webhook/scripted-tcp-server.ts'

const closing = closingAfterEach()
const program = new URL('../../bin/hookline.js', import.meta.url).pathname

it('exits with 1 and names stdout when the output cannot be written', async () => {
  // Writing to a file that is open only for reading fails on every system.
  const stdout = openSync(program, 'r')
  const child = spawn(process.execPath, [program, 'config-schema'], { stdio: ['ignore', stdout, 'pipe'] })
  closeSync(stdout)
  const [err, [code]] = await Promise.all([text(child.stderr!), once(child, 'close')])
  expect(code).toBe(1)
  expect(err).toMatch(/^hookline: stdout could not be written, so the output is incomplete: EBADF.*\n$/)
})

it('exits with 1 and the reason when the command fails after the reader of its output closed the pipe', async () => {
  const { port } = closing(await startScriptedServer(answering(answer(401))))
  const closed = "Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })"
  const fail = `process.nextTick(() => process.stdout.emit('error', ${closed}))`
  const preload = `process.stdout.on('newListener', name => { if (name === 'error') ${fail} })`
  const line = `send track --user-id u-1 --event E --write-key key --endpoint http://127.0.0.1:${port}`
  const words = ['--import', `data:text/javascript,${encodeURIComponent(preload)}`, program, ...line.split(' ')]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'pipe'] })
  const [err, [code]] = await Promise.all([text(child.stderr!), once(child, 'close')])
  expect({ code, err }).toEqual({
    code: 1,
    err: expect.stringMatching(/^hookline: sending failed with http_401 .*\n$/),
  })
})

it('ends a command without end when the reader of its output closes the pipe', async () => {
  const child = spawn(process.execPath, [program, 'sink', '--listen', '127.0.0.1:0'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  closing({ close: async () => void child.kill('SIGKILL') })
  child.stdout!.destroy()
  const [err, [code]] = await Promise.all([text(child.stderr!), once(child, 'close')])
  expect({ code, err }).toEqual({ code: 0, err: '' })
})

it('ends itself at a signal that arrives while its code is loaded', async () => {
  const send = "process.nextTick(() => process.kill(process.pid, 'SIGTERM'))"
  const preload = `process.on('newListener', name => { if (name === 'SIGTERM') ${send} })`
  const command = [program, 'preview', '--destination', 'crm', '--operator-url', 'http://127.0.0.1:1']
  const words = ['--import', `data:text/javascript,${encodeURIComponent(preload)}`, ...command]
  const child = spawn(process.execPath, words, { stdio: ['pipe', 'ignore', 'ignore'] })
  closing({ close: async () => void child.kill('SIGKILL') })
  expect(await once(child, 'close')).toEqual([null, 'SIGTERM'])
})

it.each([
  'destinations apply -f -',
  'sources apply -f -',
  'preview --destination crm',
  'send --write-key key --endpoint http://127.0.0.1:1',
])('%s ends at the first signal while it reads stdin', async line => {
  const folder = await configFolder({ 'operator.key': testSecret('operator-key') })
  const env = {
    ...process.env,
    HOOKLINE_OPERATOR_URL: 'http://127.0.0.1:1',
    HOOKLINE_OPERATOR_KEY_FILE: join(folder, 'operator.key'),
  }
  // The process sends the signal to itself when the command begins to read stdin.
  const send = "process.nextTick(() => process.kill(process.pid, 'SIGINT'))"
  const preload = `process.stdin.on('newListener', name => { if (name === 'readable') ${send} })`
  const words = ['--import', `data:text/javascript,${encodeURIComponent(preload)}`, program, ...line.split(' ')]
  const child = spawn(process.execPath, words, { stdio: ['pipe', 'ignore', 'ignore'], env })
  closing({ close: async () => void child.kill('SIGKILL') })
  expect(await once(child, 'close')).toEqual([null, 'SIGINT'])
})
