import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { findPrometheus } from '../../../../deploy/tools/local/find-prometheus.ts'

const quiet = (): void => {}

describe('the sources of Prometheus', () => {
  it('the directory that PROMETHEUS_HOME names', async () => {
    const home = await mkdtemp(join(tmpdir(), 'hookline-test-'))
    try {
      for (const name of ['prometheus', 'promtool']) await writeFile(join(home, name), '')
      expect(await findPrometheus({ PROMETHEUS_HOME: home }, quiet)).toEqual({
        server: join(home, 'prometheus'),
        promtool: join(home, 'promtool'),
      })
    } finally {
      await rm(home, { recursive: true })
    }
  })

  it('names what is missing and the remedy when there is no source', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'hookline-test-'))
    try {
      const nothing = { PROMETHEUS_HOME: empty, PATH: empty, XDG_CACHE_HOME: empty }
      await expect(findPrometheus(nothing, quiet)).rejects.toThrow(
        [
          'Prometheus is not available. Use one of these options:',
          `  - PROMETHEUS_HOME: ${empty} does not contain both prometheus and promtool. Set it to a directory with both.`,
          '  - the PATH: prometheus or promtool is missing. Install Prometheus (macOS: brew install prometheus).',
          '  - the package of Debian or Ubuntu: apt-get is missing. This option needs Debian or Ubuntu.',
        ].join('\n'),
      )
    } finally {
      await rm(empty, { recursive: true })
    }
  })
})
