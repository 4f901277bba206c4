import { expect, it } from '@jest/globals'
import { withConsoleBrowser } from '../support/console/console-browser.ts'

const console = withConsoleBrowser()

it.each([
  ['a next page', { next: 'later' }, 'No dead letter found so far.', 1],
  ['no next page', {}, 'There are no dead letters.', 0],
])('an empty partial list with %s says whether the search can continue', async (_, more, title, notices) => {
  const { page, show } = await console.open()
  await page.route('**/v1/dead-letters?*', route =>
    route.fulfill({ json: { deadLetters: [], partial: true, ...more } }),
  )
  await show('/dead-letters')
  await page.getByText(title).waitFor()
  expect(await page.getByText('Choose "Next page" to search older dead letters.').count()).toBe(notices)
  expect(await page.getByText('The list may contain replayed dead letters.').count()).toBe(0)
})
