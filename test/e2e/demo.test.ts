import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from '@jest/globals'

const demo = new URL('../../deploy/tools/local/demo.ts', import.meta.url).pathname

describe('demo', () => {
  it('exits with 0 and the expected figures', async () => {
    const child = spawn(process.execPath, [demo], { stdio: ['ignore', 'pipe', 'pipe'] })
    const [printed, complaints, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ])
    expect({ wrong: printed.match(/^WRONG.*$/gm), code, last: printed.trim().split('\n').at(-1) }).toEqual({
      ...{ wrong: null, code: 0, last: 'All figures are as expected.' },
      ...(code !== 0 && { complaints, printed }),
    })
  })
})
