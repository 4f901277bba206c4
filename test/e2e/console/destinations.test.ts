import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { startBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import {
  type ConsoleInstallation,
  signIn,
  startConsoleInstallation,
} from '../../support/browser/console-installation.ts'
import { trackEvents } from '../../support/process/test-installation.ts'

/* Tests of the pages of destinations with the real operator API. */

let console: ConsoleInstallation
let browser: TestBrowser
beforeAll(async () => {
  const [installation, started] = await Promise.all([startConsoleInstallation(), startBrowser()])
  console = installation
  browser = started
})
afterAll(async () => {
  await browser?.close()
  await console?.close()
})

it('a destination is added, tested, gets its first event, is paused, changed and deleted', async () => {
  const { page, violations } = await browser.open()
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  await signIn(page, console.url)
  await page.getByRole('link', { name: 'Destinations', exact: true }).click()
  await page.getByRole('link', { name: 'Add a destination' }).click()
  await page.getByLabel('Id').fill('erp')
  await page.getByLabel('Sources').fill('nowhere')
  await page.getByLabel('URL of webhook 1').fill(console.receiver.url)
  await page.getByText('sources[0]').first().waitFor()
  await page.getByLabel('Sources').fill('web')
  await page.getByText('The document is valid.').waitFor()
  await button('Add destination').click()
  await page.getByRole('heading', { level: 1, name: 'erp' }).waitFor()

  await button('Send test message').click()
  await page.getByText('At least one webhook accepted the test message.').waitFor()
  await button('Close').click()
  await console.installation.send(trackEvents(1, 'first'))
  // The destination `crm` of the configuration file also gets the event, so there are two requests.
  await console.receiver.until(() => console.receiver.successes.get('first-0') === 2)

  await button('Pause').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click()
  await page.locator('.page-summary').getByText('paused').waitFor()
  await button('Edit').click()
  await page.getByLabel('Timeout').fill('2s')
  await page.getByText('Saving it changes these fields: policy').waitFor()
  await button('Save').click()
  await page.getByText('"timeout": "2s"').waitFor()
  await button('Delete').click()
  await page.getByLabel('Type erp to confirm').fill('erp')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { level: 1, name: 'Destinations' }).waitFor()
  await page.getByRole('link', { name: 'Changes', exact: true }).click()
  await page.getByText('destination deleted').waitFor()
  expect(violations).toEqual([])
})
