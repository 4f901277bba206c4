import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { startGuarded, tailOf } from '../../../../deploy/tools/local/guarded-process.ts'

let dir: string
let log: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hookline-process-test-'))
  log = join(dir, 'log')
})
afterEach(() => rm(dir, { recursive: true }))

const shell = (script: string) => startGuarded({ command: '/bin/sh', args: ['-c', script], output: { file: log } })

/** Waits until the process has logged this text. */
async function logged(text: string): Promise<void> {
  while (!(await readFile(log, 'utf8')).includes(text)) await new Promise(setImmediate)
}

describe('a guarded process', () => {
  it.each([
    ['by itself, with success', 'exit 0', 'exit code 0'],
    ['by itself, with an error', 'exit 3', 'exit code 3'],
    ['by a signal', 'kill -KILL $$', 'signal SIGKILL'],
  ])('reports how it ended: %s', async (_, script, how) => {
    expect(await shell(script).ended).toBe(how)
  })

  it('reports a failed start, and can be stopped then', async () => {
    const child = startGuarded({ command: join(dir, 'nothing'), args: [], output: { file: log } })
    expect(await child.ended).toContain('ENOENT')
    await child.stop()
  })

  it('ends when it is stopped', async () => {
    const child = shell('echo up; exec sleep 600')
    await logged('up')
    await child.stop()
    expect(await child.ended).toBe('signal SIGTERM')
  })

  it('is killed when it does not end after SIGTERM', async () => {
    const child = shell('trap "" TERM; echo up; while :; do sleep 0.05; done')
    await logged('up')
    await child.stop(50)
    expect(await child.ended).toBe('signal SIGKILL')
  })

  it('leads its own process group, which ctrl-C does not reach', async () => {
    const child = shell('ps -o pgid= -p $$')
    await child.ended
    expect(Number(await readFile(log, 'utf8'))).toBe(child.pid)
  })

  it('writes both streams to its log, which each start truncates', async () => {
    await shell('echo old').ended
    await shell('echo out; echo err >&2').ended
    expect(await readFile(log, 'utf8')).toBe('out\nerr\n')
  })
})

describe('tailOf', () => {
  it('is the end of the log', async () => {
    await shell('printf "1\\n2\\n3\\n"').ended
    expect(await tailOf(log, 2)).toBe('2\n3')
  })

  it('is empty without a log', async () => {
    expect(await tailOf(join(dir, 'nothing'))).toBe('')
  })
})
