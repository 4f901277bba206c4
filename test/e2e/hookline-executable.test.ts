import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from '@jest/globals'

const checkout = resolve(import.meta.dirname, '../..')

async function ended(child: ChildProcess): Promise<{ code: number | null; out: string; err: string }> {
  const [out, err, [code]] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'close')])
  return { code: code as number | null, out, err }
}
const run = (command: string, argv: readonly string[], cwd = checkout) =>
  ended(spawn(command, argv, { cwd, stdio: ['ignore', 'pipe', 'pipe'] }))

describe('hookline as a process', () => {
  it.each([['.'], ['test/unit']])('npx finds it in %s of a checkout', async folder => {
    const { code, out } = await run('npx', ['hookline', '--version'], resolve(checkout, folder))
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
  })

  it('reports the kind of error by its exit code', async () => {
    const { code, out, err } = await run(process.execPath, ['bin/hookline.js', 'topcis'])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toBe("hookline: unknown command 'topcis' (Did you mean topics?)\n")
  })

  it('exits silently when the reader closes the pipe', async () => {
    const child = spawn(process.execPath, ['bin/hookline.js', 'config-schema'], {
      cwd: checkout,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stdout!.destroy()
    const [err, [code]] = await Promise.all([text(child.stderr!), once(child, 'close')])
    expect({ code, err }).toEqual({ code: 0, err: '' })
  })
})
