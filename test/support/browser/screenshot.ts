import { join, resolve } from 'node:path'
import type { Page } from 'playwright-core'

const folder = resolve(import.meta.dirname, '../../../docs/pictures')

/** Writes `docs/pictures/console-<name>.png` if the environment has `PICTURES=1`. */
export async function takePicture(page: Page, name: string): Promise<void> {
  if (process.env['PICTURES'] === '1') await page.screenshot({ path: join(folder, `console-${name}.png`) })
}
