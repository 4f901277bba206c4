import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'
import { closingAfterEach } from '../../support/cleanup.ts'
import { blockedSince } from '../../support/process/event-loop-probe-results.ts'

const closing = closingAfterEach()
const probe = new URL('../../support/process/event-loop-probe.ts', import.meta.url).href
const waitOf = (ms: number): string => `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${ms})`

it('reports a blocked event loop that needs no CPU time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hookline-probe-'))
  closing({ close: () => rm(folder, { recursive: true }) })
  const file = join(folder, 'blocked')
  const script = `setTimeout(() => { ${waitOf(1_100)}; setTimeout(() => {}, 50) }, 50)`
  await promisify(execFile)(process.execPath, ['--import', probe, '--eval', script], {
    env: { ...process.env, LOOP_PROBE_FILE: file },
  })
  const { cpuMs, wallMs } = await blockedSince(file, 0)
  expect(wallMs).toBeGreaterThanOrEqual(1_100)
  expect(cpuMs).toBeLessThan(1_000)
})
