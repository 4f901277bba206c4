import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { accessibilityViolations } from '../../support/browser/accessibility.ts'
import { type OpenedPage, startBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import {
  type ConsoleInstallation,
  readKey,
  signIn,
  startConsoleInstallation,
} from '../../support/browser/console-installation.ts'
import { trackMessage } from '../../support/collector/normalised-track-message.ts'
import { trackEvents } from '../../support/process/test-installation.ts'
import { RecordingReceiver } from '../../support/webhook/recording-receiver.ts'

/*
 * An operator's work during an incident, in a browser. The failed event contains HTML, which the
 * pages must not interpret.
 */

const markup = `<img src=x onerror="window.injected=1"><b>`
const odd = 'a/../b?c#d%2F"<b>&amp;'
const failed = 6

let console: ConsoleInstallation
let refusing: RecordingReceiver
let browser: TestBrowser
let opened: OpenedPage
beforeAll(async () => {
  // Deliveries with a 404 are not retried.
  refusing = await RecordingReceiver.started({ answers: [404, 200] })
  const crm = { id: 'crm', sources: ['web'], sharedSecret: 'secret-of-crm', webhooks: [{ url: refusing.url }] }
  ;[console, browser] = await Promise.all([startConsoleInstallation({ destinations: [crm] }), startBrowser()])
  const [first, ...others] = trackEvents(failed)
  await console.installation.send([
    ...others,
    { ...first!, message: trackMessage(odd, { userId: markup, event: markup }) },
  ])
  await refusing.until(() => refusing.requests.length === failed)
  opened = await browser.open()
  await signIn(opened.page, console.url)
})
afterAll(async () => {
  await browser?.close()
  await console?.close()
  await refusing?.close()
})

it('the failing destination is found from the overview, and a message from its last failures', async () => {
  const { page } = opened
  const failing = page.getByRole('region', { name: 'Failing destinations' })
  await failing.getByRole('link', { name: 'crm' }).waitFor()
  await page.getByRole('region', { name: 'Processes' }).getByText('dispatcher').first().waitFor()
  await failing.getByRole('link', { name: 'crm' }).click()
  await page.getByRole('heading', { level: 1, name: 'crm' }).waitFor()
  const results = page.getByRole('region', { name: 'Results' })
  await results.getByText('Dead-lettered').first().waitFor()
  const failures = page.getByRole('region', { name: 'Last failed attempts' })
  // The page shows the failures that it has read up to now, and reads them again every 5 s.
  await failures.getByRole('row').nth(failed).waitFor()
  expect(await failures.getByRole('row').count()).toBe(failed + 1)
  await failures.getByRole('link', { name: odd }).click()
  await page.getByRole('heading', { level: 1, name: `Message ${odd}` }).waitFor()
  const timeline = page.getByRole('region', { name: 'Destination crm' })
  await timeline.getByText('http_4xx, status 404').waitFor()
  await page.reload()
  await timeline.getByText('dead-lettered', { exact: true }).waitFor()
  expect(await accessibilityViolations(page)).toEqual([])
  await timeline.getByRole('link', { name: 'show the dead letter' }).click()
  await page.getByText(`"userId": ${JSON.stringify(markup)}`).waitFor()
  await page.getByText(`"userId":${JSON.stringify(markup)}`).waitFor()
  expect(await accessibilityViolations(page)).toEqual([])
})

it('a key with the role read sees neither headers nor bodies', async () => {
  const { page, violations } = await browser.open()
  await signIn(page, console.url, readKey)
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await page.goto(opened.page.url())
  await page.getByText('To see them, sign in with a key that has the role "operate".').waitFor()
  expect(await page.content()).not.toContain('window.injected')
  expect(await page.getByRole('button', { name: 'Replay…' }).count()).toBe(0)
  expect(violations).toEqual([])
})

it('the dead letters are replayed to zero', async () => {
  const { page } = opened
  await page.getByRole('link', { name: 'Dead letters', exact: true }).click()
  await page.getByLabel('Destination').fill('crm')
  await page.getByRole('button', { name: 'Apply filters' }).click()
  await page.getByRole('table').getByRole('row').nth(failed).waitFor()
  await page.getByRole('button', { name: 'Replay all matching dead letters…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(`${failed} dead letters can be replayed.`).waitFor()
  expect(await accessibilityViolations(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Replay' }).click()
  await refusing.untilDelivered(failed)
  const replayed = `of those that match the filters: ${failed} replayed, 0 not replayed`
  await page.getByText(`${failed} of ${failed} dead letters read; ${replayed}`).waitFor()
  await page.getByText('No dead letter matches the filters.').waitFor()
})

it('a new destination shows its first delivery, waits while it is paused, and gets the last hour again', async () => {
  const { page, violations } = opened
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  await page.getByRole('link', { name: 'Destinations', exact: true }).click()
  await page.getByRole('link', { name: 'Add a destination' }).click()
  await page.getByLabel('Id').fill('erp')
  await page.getByLabel('Sources').fill('web')
  await page.getByLabel('URL of webhook 1').fill(console.receiver.url)
  await page.getByText('The document is valid.').waitFor()
  await button('Add destination').click()
  await page.getByText('Waiting for the first event.').waitFor()
  await console.installation.send(trackEvents(1, 'new'))
  await page.getByText('The first delivery has arrived.').waitFor()

  const dialog = page.getByRole('dialog')
  const state = page.locator('.page-summary')
  await button('Pause').click()
  await dialog.getByRole('button', { name: 'Pause' }).click()
  await state.getByText('paused').waitFor()
  await console.installation.send(trackEvents(1, 'paused'))
  await button('Resume').click()
  await dialog.getByRole('button', { name: 'Resume' }).click()
  await state.getByText('enabled').waitFor()
  await console.receiver.until(() => console.receiver.successes.has('paused-0'))

  await page.getByRole('link', { name: 'Resend…' }).click()
  await button('Resend').click()
  await page.getByText('8 of 8 events read, 8 resent, 0 skipped').waitFor()
  expect(await accessibilityViolations(page)).toEqual([])
  await console.receiver.until(() => console.receiver.successes.has(odd))
  expect(await page.evaluate('window.injected')).toBeUndefined()
  expect(violations).toEqual([])
})
