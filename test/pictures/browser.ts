import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startGuarded, tailOf } from '../../deploy/tools/local/guarded-process.ts'
import { systemClock } from '../../src/adapters/clock.ts'
import type { PanelJson } from '../support/dashboards.ts'
import { until } from '../support/kafka-admin.ts'
import { openPage, type Page } from './devtools.ts'
import { type PanelSeen, untilDrawn } from './drawn.ts'

const look = readFileSync(new URL('look.mjs', import.meta.url), 'utf8')

export interface Photograph {
  readonly url: string
  /** What has to be drawn before the picture is taken. */
  readonly panels: readonly PanelJson[]
  /** A PNG is written there. */
  readonly file: string
  /** In pixels. */
  readonly width: number
  readonly height: number
}

/**
 * A headless Chromium looks at the page with a profile of its own until all panels are drawn.
 * @throws Error that names the panels that are not after two minutes, or with the end of Chromium's log when it ends before
 */
export async function photograph(wanted: Photograph, chromium: string): Promise<void> {
  const profile = await mkdtemp(join(tmpdir(), 'hookline-chromium-'))
  const log = join(profile, 'log')
  const running = startGuarded({
    command: chromium,
    args: switchesOf(profile),
    output: { file: log },
    throwAwayDir: profile,
  })
  const died = running.ended.then(async how => {
    throw new Error(`${chromium} has ended with ${how}:\n${await tailOf(log)}`)
  })
  const over = new AbortController()
  const pageUrl = (): Promise<string | undefined> => {
    over.signal.throwIfAborted()
    return firstPageOf(profile)
  }
  try {
    await Promise.race([until(pageUrl).then(at => take(wanted, at)), died])
  } finally {
    over.abort()
    died.catch(() => undefined)
    await running.stop()
    await rm(profile, { recursive: true, force: true, maxRetries: 5 })
  }
}

const switchesOf = (profile: string): readonly string[] => [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
  ...['--disable-background-networking', '--disable-component-update', '--hide-scrollbars'],
  `--user-data-dir=${profile}`,
  // Any port that is free: it is written into the profile.
  '--remote-debugging-port=0',
  'about:blank',
]

async function take({ url, panels, file, width, height }: Photograph, pageUrl: string): Promise<void> {
  const page = await openPage(pageUrl)
  try {
    await page.ask('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false })
    await goTo(page, url)
    await untilDrawn(panels, () => page.evaluate<readonly PanelSeen[]>(look), systemClock)
    const { data } = await page.ask<{ readonly data: string }>('Page.captureScreenshot', { format: 'png' })
    await writeFile(file, data, 'base64')
  } finally {
    page.close()
  }
}

/** Where it can be asked; undefined while the browser starts. */
async function firstPageOf(profile: string): Promise<string | undefined> {
  const [port] = (await readFile(join(profile, 'DevToolsActivePort'), 'utf8').catch(() => '')).split('\n')
  if (port === undefined || port === '') return undefined
  const response = await fetch(`http://127.0.0.1:${port}/json/list`).catch(() => undefined)
  const targets = (await response?.json()) as readonly { type: string; webSocketDebuggerUrl: string }[] | undefined
  return targets?.find(({ type }) => type === 'page')?.webSocketDebuggerUrl
}

async function goTo(page: Page, url: string): Promise<void> {
  const { errorText } = await page.ask<{ readonly errorText?: string }>('Page.navigate', { url })
  if (errorText !== undefined) throw new Error(`${url}: ${errorText}`)
}
