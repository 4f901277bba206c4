import { expect, it } from '@jest/globals'
import { accessibilityViolations } from '../support/browser/accessibility.ts'
import { withConsoleBrowser } from '../support/console/console-browser.ts'

const console = withConsoleBrowser()

it.each([
  ['failed', { error: 'the record is too large' }, 'because the dry run failed: the record is too large'],
  ['cancelled', {}, 'because an operator cancelled the dry run.'],
])('a dry run that has %s shows the reason and a link to its job', async (state, more, text) => {
  const { page, show } = await console.open()
  await page.route('**/v1/replays/*', async route => {
    const job = await (await route.fetch()).json()
    await route.fulfill({ json: { ...job, state, ...more } })
  })
  await show('/dead-letters')
  await page.getByRole('button', { name: 'Replay all…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(text).waitFor()
  expect(await accessibilityViolations(page)).toEqual([])
  await dialog.getByRole('link', { name: 'Show the job' }).click()
  await page.getByRole('heading', { level: 1, name: /^Dry run of a replay j-/ }).waitFor()
})

it('a dry run is cancelled when its dialog is closed before its end', async () => {
  const { page, show } = await console.open()
  await page.route('**/v1/replays/*', async route => {
    if (route.request().method() === 'DELETE') return route.continue()
    const job = await (await route.fetch()).json()
    await route.fulfill({ json: { ...job, state: 'waiting' } })
  })
  await show('/dead-letters')
  await page.getByRole('button', { name: 'Replay all…' }).click()
  await page.getByText('The dry run starts when earlier replays and dry runs of replays have ended.').waitFor()
  const request = page.waitForRequest(each => each.method() === 'DELETE')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  expect((await request).url()).toMatch(/\/v1\/replays\/j-/)
})
