import { afterAll, beforeAll } from '@jest/globals'
import type { Page } from 'playwright-core'
import type { Role } from '../../../packages/console/src/api/response-types.ts'
import { type OpenedPage, startBrowser, type TestBrowser } from '../browser/browser.ts'
import { buildConsole } from './built-console.ts'
import { type FakeOperator, keys, startFakeOperator } from './fake-operator-api.ts'

type OpenOptions = Parameters<TestBrowser['open']>[0] & {
  /** By default 20. */
  readonly destinations?: number
}

/** A signed-in page of the console with its own fake operator API. */
export interface ConsolePage extends OpenedPage {
  readonly operator: FakeOperator
  /** Opens a path of the console, for example `/destinations`, and waits for the heading. */
  show(path: string): Promise<void>
}

export interface ConsoleBrowser {
  open(role?: Role, options?: OpenOptions): Promise<ConsolePage>
}

export function withConsoleBrowser(): ConsoleBrowser {
  let browser: TestBrowser | undefined
  const operators: FakeOperator[] = []
  const pages: Page[] = []
  beforeAll(async () => {
    const [started] = await Promise.all([startBrowser(), buildConsole()])
    browser = started
  })
  afterAll(async () => {
    // The open pages still send requests, and the handler of a `route` would fail when the browser
    // closes.
    await Promise.all(pages.map(page => page.unrouteAll({ behavior: 'ignoreErrors' })))
    await browser?.close()
    await Promise.all(operators.map(operator => operator.close()))
  })
  return {
    async open(role = 'operate', { destinations, ...options } = {}) {
      const operator = await startFakeOperator(destinations)
      operators.push(operator)
      const { page, violations } = await browser!.open(options)
      pages.push(page)
      await signIn(page, `${operator.url}/console/`, keys[role])
      const show = async (path: string): Promise<void> => {
        await page.goto(`${operator.url}/console${path}`)
        await page.getByRole('heading', { level: 1 }).waitFor()
      }
      return { page, violations, operator, show }
    },
  }
}

async function signIn(page: Page, url: string, key: string): Promise<void> {
  await page.goto(url)
  await page.getByLabel('Operator key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
}
