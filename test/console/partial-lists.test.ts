import { expect, it } from '@jest/globals'
import { withConsoleBrowser } from '../support/console/console-browser.ts'
import { changes, failingId, status } from '../support/console/fake-operator-api-data.ts'

const console = withConsoleBrowser()

it('the page of changes says whether older changes are missing', async () => {
  const { page, show } = await console.open()
  const notice = page.getByText('The list has only the newest changes of this time span.')
  await show('/changes')
  await page.getByText('old-crm').first().waitFor()
  expect(await notice.count()).toBe(0)
  await page.route('**/v1/changes*', route => route.fulfill({ json: { partial: true, changes } }))
  await show('/changes')
  await notice.waitFor()
})

it('the pages say how many open circuit breakers and problems are not listed', async () => {
  const { page, show } = await console.open()
  const problems = [{ kind: 'destination', id: 'broken', conflict: true, problems: [] }]
  const parts = { openBreakers: [failingId], openBreakerCount: 5_000, problems, problemCount: 300 }
  await page.route('**/v1/status', route => route.fulfill({ json: { ...status([]), ...parts } }))
  await show('/')
  await page.getByText('The table shows only 1 of 5,000 destinations with an open circuit breaker.').waitFor()
  await page.getByText('The list shows only 1 of 300 destinations and sources with problems.').waitFor()
  expect(await page.getByText('5,000', { exact: true }).count()).toBe(1)
  await show('/destinations')
  await page.getByText('The table shows only 1 of 5,000 open circuit breakers').waitFor()
})
