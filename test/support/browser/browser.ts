import { type Browser, chromium, type Page } from 'playwright-core'
import { findChromium } from '../../../deploy/tools/local/find-chromium.ts'

/** The sizes of windows at which the console must be usable. */
export const desktop = { width: 1_280, height: 800 } as const
export const phone = { width: 390, height: 844 } as const

export interface TestBrowser {
  /** Opens a page with its own cookies. */
  open(options?: OpenOptions): Promise<OpenedPage>
  close(): Promise<void>
}

interface OpenOptions {
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly colorScheme?: 'light' | 'dark'
}

export interface OpenedPage {
  readonly page: Page
  /** What the Content-Security-Policy blocked, and errors that no code caught. */
  readonly violations: readonly string[]
}

/** Starts Chromium without a window. Root must switch its sandbox off. */
export async function startBrowser(): Promise<TestBrowser> {
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const browser: Browser = await chromium.launch({ executablePath: await findChromium(), args })
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
