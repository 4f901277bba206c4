import { describe, expect, it } from '@jest/globals'
import { accessibilityViolations } from '../support/browser/accessibility.ts'
import { withConsoleBrowser } from '../support/console/console-browser.ts'
import { failingId } from '../support/console/fake-operator-api-data.ts'

const console = withConsoleBrowser()

describe('a sign-out', () => {
  it('that fails says that the user is still signed in, and can be repeated', async () => {
    const { page, show } = await console.open()
    await show('/destinations')
    await page.route('**/v1/session', route => route.fulfill({ status: 502, body: 'bad gateway' }))
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are still signed in.').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.unroute('**/v1/session')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Operator key').waitFor()
    await page.reload()
    await page.getByLabel('Operator key').waitFor()
  })

  it('ends the session that began in another tab', async () => {
    const { page, operator, show } = await console.open()
    await show('/destinations')
    await page.context().request.post(`${operator.url}/v1/session`, { data: { key: 'read-key' } })
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Operator key').waitFor()
    await page.reload()
    await page.getByLabel('Operator key').waitFor()
  })

  it('is not undone by an earlier request for the session', async () => {
    const { page, show } = await console.open()
    await show('/destinations')
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<void>()
    await page.route('**/v1/session', async route => {
      if (route.request().method() !== 'GET') return route.continue()
      const response = await route.fetch()
      asked.resolve()
      await answer.promise
      await route.fulfill({ response })
    })
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))')
    await asked.promise
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Operator key').waitFor()
    const late = page.waitForResponse('**/v1/session')
    answer.resolve()
    await (await late).finished()
    await page.getByLabel('Operator key').fill('still signed out')
    expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(0)
  })
})

it('a session that ends during an edit keeps what was typed', async () => {
  const { page, operator, show, violations } = await console.open()
  await show('/destinations/analytics')
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('Timeout').fill('2s')
  await page.context().clearCookies()
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
  await dialog.waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await page.route('**/v1/session', route => route.fulfill({ status: 502, body: 'bad gateway' }))
  const failed = page.waitForResponse('**/v1/session')
  await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))')
  await (await failed).finished()
  await page.unroute('**/v1/session')
  expect(await accessibilityViolations(page)).toEqual([])
  await dialog.getByLabel('Operator key').fill('wrong')
  await page.keyboard.press('Enter')
  await dialog.getByText('This operator key is not valid.').waitFor()
  await dialog.getByLabel('Operator key').fill('operate-key')
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  expect(await page.getByLabel('Timeout').inputValue()).toBe('2s')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('"timeout": "2s"').waitFor()
  expect(operator.changed).toEqual(['PUT /v1/destinations/analytics'])
  expect(violations).toEqual([])
})

it('the Back button does not change the selection of an open replay dialog', async () => {
  const { page, show } = await console.open()
  await show('/dead-letters')
  await page.getByLabel('Destination').fill(failingId)
  await page.getByLabel('Destination').press('Enter')
  await page.waitForURL(`**destination=${failingId}**`)
  await page.getByRole('button', { name: 'Replay all matching' }).click()
  const dialog = page.getByRole('dialog')
  const selection = await dialog.getByText('Selection:').textContent()
  expect(selection).toContain(failingId)
  // Without this wait, the request below could be that of the dry run.
  await dialog.getByText('3 dead letters can be replayed.').waitFor()
  await page.goBack()
  await page.waitForURL(url => !url.search.includes(failingId))
  expect(await dialog.getByText('Selection:').textContent()).toBe(selection)
  const request = page.waitForRequest('**/v1/replays')
  await dialog.getByRole('button', { name: 'Replay' }).click()
  expect((await request).postDataJSON()).toEqual({ filters: { destination: failingId } })
})

it('a list field keeps a comma at the end of the typed text', async () => {
  const { page, show } = await console.open()
  await show('/new-destination')
  const sources = page.getByLabel('Sources')
  await sources.pressSequentially('web')
  const checked = page.waitForResponse('**dryRun**')
  await sources.press(',')
  await page.getByLabel('Id').fill('erp')
  await checked
  await sources.focus()
  await sources.press('End')
  await sources.pressSequentially(' mobile')
  expect(await sources.inputValue()).toBe('web, mobile')
})
