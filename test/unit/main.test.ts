import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { expect, it } from '@jest/globals'
import { closingAfterEach } from '../support/cleanup.ts'

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

it('ends itself at a signal that arrives while its code is loaded', async () => {
  // The process sends the signal to itself after it has begun to handle it. The command then waits
  // for a message on stdin.
  const send = "process.nextTick(() => process.kill(process.pid, 'SIGTERM'))"
  const preload = `process.on('newListener', name => { if (name === 'SIGTERM') ${send} })`
  const command = [program, 'preview', '--destination', 'crm', '--operator-url', 'http://127.0.0.1:1']
  const words = ['--import', `data:text/javascript,${encodeURIComponent(preload)}`, ...command]
  const child = spawn(process.execPath, words, { stdio: ['pipe', 'ignore', 'ignore'] })
  closing({ close: async () => void child.kill('SIGKILL') })
  expect(await once(child, 'close')).toEqual([null, 'SIGTERM'])
})
