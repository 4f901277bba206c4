import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const patienceMs = 120_000
/** How far the page's clock goes on while nothing is under way, in milliseconds: what is drawn after a moment is drawn. */
const settleMs = 15_000

export interface Photograph {
  readonly url: string
  /** A PNG is written there. */
  readonly file: string
  /** In pixels. */
  readonly width: number
  readonly height: number
}

/** A headless Chromium looks at the page with a profile of its own. @throws Error when it writes no picture within two minutes */
export async function photograph({ url, file, width, height }: Photograph, chromium: string): Promise<void> {
  const profile = await mkdtemp(join(tmpdir(), 'hookline-chromium-'))
  try {
    await run(
      chromium,
      [
        ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
        ...['--disable-background-networking', '--disable-component-update', '--hide-scrollbars'],
        `--user-data-dir=${profile}`,
        `--window-size=${width},${height}`,
        `--virtual-time-budget=${settleMs}`,
        `--screenshot=${file}`,
        url,
      ],
      { timeout: patienceMs },
    )
  } finally {
    await rm(profile, { recursive: true, force: true })
  }
}
