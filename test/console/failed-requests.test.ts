import { expect, it } from '@jest/globals'
import { withConsoleBrowser } from '../support/console/console-browser.ts'
import { failingId } from '../support/console/fake-operator-api-data.ts'

const console = withConsoleBrowser()
const badGateway = { status: 502, contentType: 'text/html', body: '<html>' }

it('a resend that the user repeats has the same idempotency key until the form changes', async () => {
  const { page, show } = await console.open()
  await page.route('**/v1/resends', route => route.fulfill(badGateway))
  await show(`/resend?destination=${failingId}`)
  const keys: (string | undefined)[] = []
  for (const rate of ['', '', '5']) {
    await page.getByLabel('Maximum messages per second').fill(rate)
    const request = page.waitForRequest('**/v1/resends')
    await page.getByRole('button', { name: 'Resend' }).click()
    keys.push((await request).headers()['idempotency-key'])
    await page.getByText('Hookline may have made it').waitFor()
  }
  expect(keys).toEqual([expect.stringMatching(/^[\w-]{43}$/), keys[0], expect.not.stringContaining(keys[0]!)])
})

it('a document that could not be checked can be saved, and is checked again', async () => {
  const { page, show } = await console.open()
  await page.clock.install()
  await show(`/destinations/${failingId}`)
  await page.route('**dryRun**', route => route.fulfill(badGateway))
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('Timeout').fill('2s')
  await page.getByText('Hookline could not check the document').waitFor()
  expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(false)
  await page.unroute('**dryRun**')
  await page.clock.fastForward(5_000)
  await page.getByText('The document is valid.').waitFor()
})

it('a page that cannot show its data names the error, and the other pages still work', async () => {
  const { page, show } = await console.open()
  await page.route('**/v1/changes**', route => route.fulfill({ json: {} }))
  await show('/changes')
  await page.getByRole('heading', { level: 1, name: 'Error in the console' }).waitFor()
  await page.unroute('**/v1/changes**')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('table', { name: 'Changes' }).waitFor()
})

it('filters of the address that no field can show are used unchanged', async () => {
  const { page, show } = await console.open()
  // The overview, which is still open, also requests dead letters, but without `message=`.
  const request = page.waitForRequest(
    sent => new URL(sent.url()).pathname === '/v1/dead-letters' && sent.url().includes('message='),
  )
  await show('/dead-letters?message=a%252Fb&since=24h')
  expect(new URL((await request).url()).searchParams.get('message')).toBe('a%2Fb')
  expect(await page.getByLabel('Message id').inputValue()).toBe('a%2Fb')
  await page.getByRole('button', { name: 'Apply filters' }).click()
  const { searchParams } = new URL(page.url())
  expect([searchParams.get('message'), searchParams.get('since')]).toEqual(['a%2Fb', '24h'])
})
