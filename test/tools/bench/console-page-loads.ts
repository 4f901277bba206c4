import type { Page } from 'playwright-core'
import { startBrowser } from '../../support/browser/browser.ts'
import { operatorKey } from '../../support/operator/scripted-deletion-and-audience-api.ts'

export interface ConsolePage {
  readonly name: string
  /** The path after `/console` of the n-th load, with its query. */
  readonly path: (n: number) => string
}

const patienceMs = 30_000

/** Counts the requests of the page that have no complete response yet. */
const countRequests = `{
  const send = window.fetch
  window.benchRequests = 0
  window.fetch = async (...given) => {
    window.benchRequests++
    try {
      const response = await send(...given)
      await response.clone().arrayBuffer()
      return response
    } finally {
      setTimeout(() => window.benchRequests--)
    }
  }
}`

/**
 * Resolves with the ms until the page is complete (heading, responses, no placeholder) in three
 * consecutive frames. The first of them counts.
 */
const untilLoaded = `new Promise((resolve, reject) => {
  let frames = 0
  let at = 0
  const look = () => {
    const isLoaded = window.benchRequests === 0 && document.querySelector('h1') && !document.querySelector('.loading')
    frames = isLoaded ? frames + 1 : 0
    if (frames === 1) at = performance.now()
    if (document.querySelector('[role=alert]')) reject(new Error(document.querySelector('[role=alert]').textContent))
    else if (frames === 3) resolve(at)
    else if (performance.now() > ${patienceMs}) reject(new Error('the page is not loaded after ${patienceMs} ms'))
    else requestAnimationFrame(look)
  }
  look()
})`

/**
 * Loads each page of the console `count` times. Returns the ms by page. @throws when a page shows
 * an error
 */
export async function loadPages(
  url: string,
  pages: readonly ConsolePage[],
  count: number,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const browser = await startBrowser()
  try {
    const { page, violations } = await browser.open()
    await page.addInitScript(countRequests)
    await page.goto(`${url}/console/`)
    await page.getByLabel('Operator key').fill(operatorKey)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    const loads = new Map<string, readonly number[]>()
    for (const { name, path } of pages) {
      const times: number[] = []
      for (let n = 0; n < count; n++) times.push(await load(page, `${url}/console${path(n)}`))
      loads.set(name, times)
    }
    if (violations.length > 0) throw new Error(`the console has errors: ${violations.join('; ')}`)
    return loads
  } finally {
    await browser.close()
  }
}

async function load(page: Page, url: string): Promise<number> {
  await page.goto(url, { waitUntil: 'commit' })
  try {
    return (await page.evaluate(untilLoaded)) as number
  } catch (error) {
    throw new Error(`cannot load ${url}: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}
