import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { startBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import {
  type ConsoleInstallation,
  signIn,
  startConsoleInstallation,
} from '../../support/browser/console-installation.ts'
import { until } from '../../support/kafka/admin.ts'
import { trackEvents } from '../../support/process/test-installation.ts'
import { testSecret } from '../../support/secret-scan/make-and-find-test-secrets.ts'

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
  // The destination `crm` of the configuration file also gets the event.
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
  await page.getByLabel('Type "erp" to confirm').fill('erp')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { level: 1, name: 'Destinations' }).waitFor()
  await page.getByRole('link', { name: 'Changes', exact: true }).click()
  await page.getByText('destination deleted').waitFor()
  expect(violations).toEqual([])
})

it('a source is added, its key is accepted, and it is changed and deleted', async () => {
  const { page, violations } = await browser.open()
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const track = async (key: string): Promise<number> => {
    const response = await fetch(`${console.service.collector}/v1/track`, {
      method: 'POST',
      headers: { 'X-Write-Key': key },
      body: JSON.stringify({ event: 'Opened', userId: 'u-1' }),
    })
    return response.status
  }
  const untilAnswer = (key: string, status: number) =>
    until(async () => ((await track(key)) === status ? true : undefined))
  const second = testSecret('second-key-of-shop')
  await signIn(page, console.url)
  await page.getByRole('link', { name: 'Sources', exact: true }).click()
  await page.getByRole('link', { name: 'Add a source' }).click()
  await page.getByLabel('Id').fill('-')
  await page.getByText('begin with a letter or digit').first().waitFor()
  await page.getByLabel('Id').fill('shop')
  await page.getByText('The document is valid.').waitFor()
  await button('Add source').click()
  const key = (await page.getByRole('dialog').getByRole('status').textContent()) ?? ''
  await button('Close').click()
  await page.getByRole('heading', { level: 1, name: 'shop' }).waitFor()
  await untilAnswer(key, 200)

  await button('Edit').click()
  await button('Add a write key').click()
  await page.getByLabel('Write key 2', { exact: true }).fill(second)
  await page.getByText('Saving it changes these fields: writeKey').waitFor()
  await button('Save').click()
  await button('Edit').waitFor()
  // The form showed the first write key as ***. Saving the form has kept this key.
  await untilAnswer(second, 200)
  expect(await track(key)).toBe(200)

  await button('Delete').click()
  await page.getByLabel('Type "shop" to confirm').fill('shop')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { level: 1, name: 'Sources' }).waitFor()
  await untilAnswer(key, 401)
  expect(violations).toEqual([])
})
