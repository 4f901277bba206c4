import { expect, it } from '@jest/globals'
import { withConsoleBrowser } from '../support/console/console-browser.ts'
import { changes } from '../support/console/fake-installation.ts'

/* Tests of lists of which the operator service sends only a part. */

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
