import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Results {
  readonly violations: readonly {
    readonly id: string
    readonly help: string
    readonly nodes: readonly { readonly html: string }[]
  }[]
}

/** The violations that axe-core finds on the page, one line for each element. */
export async function accessibilityViolations(page: Page): Promise<readonly string[]> {
  // The debugging protocol evaluates the code, so the Content-Security-Policy does not block it.
  await page.evaluate(source)
  const { violations } = (await page.evaluate("axe.run({ resultTypes: ['violations'] })")) as Results
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id}: ${help}: ${html}`))
}
