import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { expect, it } from '@jest/globals'

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
  // The signal is sent when the program begins to handle it.
  const sender = "process.once('newListener', () => setImmediate(() => process.kill(process.pid, 'SIGTERM')))"
  const preload = `data:text/javascript,${encodeURIComponent(sender)}`
  const child = spawn(process.execPath, ['--import', preload, program, 'run', '--config', '/nowhere'], {
    stdio: 'ignore',
  })
  expect(await once(child, 'close')).toEqual([143, null])
})
