import { type Browser, chromium, type Page } from 'playwright-core'
import { findChromium } from '../../../deploy/tools/local/find-chromium.ts'

/** Window sizes with which the console must be usable. */
export const desktop = { width: 1_280, height: 800 } as const
export const phone = { width: 390, height: 844 } as const

export interface TestBrowser {
  open(options?: OpenOptions): Promise<OpenedPage>
  close(): Promise<void>
}

interface OpenOptions {
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly colorScheme?: 'light' | 'dark'
}

export interface OpenedPage {
  readonly page: Page
  /** Violations of the Content-Security-Policy, and uncaught errors of the page. */
  readonly violations: readonly string[]
}

/** Starts Chromium without a window. As root, Chromium starts only without its sandbox. */
export async function startBrowser(args: readonly string[] = []): Promise<TestBrowser> {
  const own = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const browser: Browser = await chromium.launch({ executablePath: await findChromium(), args: [...own, ...args] })
  return {
    async open({ viewport = desktop, colorScheme = 'light' } = {}) {
      const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' })
      const page = await context.newPage()
      const violations: string[] = []
      page.on('pageerror', error => violations.push(`uncaught ${error.message}`))
      await page.exposeFunction('reportViolation', (text: string) => void violations.push(text))
      await page.addInitScript(`document.addEventListener('securitypolicyviolation', event =>
        reportViolation(event.violatedDirective + ' blocked ' + event.blockedURI))`)
      return { page, violations }
    },
    close: () => browser.close(),
  }
}
