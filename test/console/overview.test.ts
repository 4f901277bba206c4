import { expect, it } from '@jest/globals'
import { withConsoleBrowser } from '../support/console/console-browser.ts'
import { status } from '../support/console/fake-operator-api-data.ts'

const console = withConsoleBrowser()

it('requests the dead letters of the hour before each request', async () => {
  const { page, show } = await console.open()
  const request = page.waitForRequest('**/v1/dead-letters?*')
  await show('/')
  expect(new URL((await request).url()).searchParams.get('since')).toBe('1h')
})

it('shows the lag of the events topic, without the retries that are not due', async () => {
  const { page, show } = await console.open()
  await show('/')
  await page.locator('.figure').filter({ hasText: 'Lag' }).getByText('128 events').waitFor()
})

it('claims no backlog that the operator service has not reported', async () => {
  const { page, show } = await console.open()
  const unread = { ...status([]), groups: [], waiting: [], partial: true }
  await page.route('**/v1/status', route => route.fulfill({ json: unread }))
  await show('/')
  for (const name of ['Lag', 'Deliveries waiting in retry topics'])
    await page.locator('.figure').filter({ hasText: name }).getByText('not reported').waitFor()
  await page.getByText('The operator service could not read the retry topics.').waitFor()
  await page.getByText('The operator service could not read the lag.').waitFor()
  await page.route('**/v1/status', route => route.fulfill({ json: { ...unread, partial: undefined } }))
  await page.getByText('There are no retry topics.').waitFor()
})
