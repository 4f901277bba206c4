import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { accessibilityViolations } from '../support/browser/accessibility.ts'
import { desktop, phone } from '../support/browser/browser.ts'
import { takePicture } from '../support/browser/screenshot.ts'
import { builtConsole } from '../support/console/built-console.ts'
import { type ConsolePage, withConsoleBrowser } from '../support/console/console-browser.ts'
import { failedMessage, failingId } from '../support/console/fake-operator-api-data.ts'

const console = withConsoleBrowser()

/** `text` is a part of the page's data, and `picture` the name of its picture in the docs. */
const pages: readonly (readonly [page: string, path: string, text: string, picture: string | undefined])[] = [
  ['the overview', '/', 'hookline-dispatcher-0', 'overview'],
  ['the destinations', '/destinations', 'customer-00000', 'destinations'],
  ['a destination', `/destinations/${failingId}`, 'Last failed attempts', 'destination'],
  ['a destination of the configuration file', '/destinations/billing', 'The configuration file defines', undefined],
  ['a new destination', '/new-destination', 'Shared secret', 'new-destination'],
  ['the search for a message', '/messages', 'Enter the id of a message', 'messages'],
  ['a message', `/messages/${failedMessage}`, 'Records in Kafka', 'message'],
  ['a message that does not exist', '/messages/unknown', 'The search found no record of this message', undefined],
  ['the dead letters', '/dead-letters', failedMessage, 'dead-letters'],
  ['a dead letter', '/dead-letters/2-1041', 'X-Signature: ***', 'dead-letter'],
  ['a resend', '/resend?destination=billing', 'Types of messages', 'resend'],
  ['the jobs', '/jobs', 'Resend s-20261126-1', 'jobs'],
  ['a job', '/jobs/resends/s-20261126-1', 'some events of partition 1 before offset 20110', 'job'],
  ['the audiences', '/audiences', 'Shoppers', 'audiences'],
  ['the sources', '/sources', 'mobile', 'sources'],
  ['a source', '/sources/mobile', 'Settings', 'source'],
  ['a source of the configuration file', '/sources/web', 'The configuration file defines', undefined],
  ['a new source', '/new-source', 'Write key 1', 'new-source'],
  ['the changes', '/changes', 'old-crm', 'changes'],
  ['an address without a page', '/nothing', 'no page with this address', undefined],
]

describe.each([
  ['1,280 pixels, light', desktop, 'light'],
  ['390 pixels, dark', phone, 'dark'],
] as const)('at %s', (_, viewport, colorScheme) => {
  let opened: ConsolePage
  beforeAll(async () => {
    opened = await console.open('operate', { viewport, colorScheme })
  })

  it.each(pages)('%s is accessible, fits, and keeps the Content-Security-Policy', async (_, path, text, picture) => {
    const { page, violations, show } = opened
    await show(path)
    await page.getByText(text).first().waitFor()
    if (picture !== undefined && viewport === desktop) await takePicture(page, picture)
    if (page.url().endsWith(failingId)) await page.getByText('The numbers as a table').click()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width)
    expect(await accessibilityViolations(page)).toEqual([])
    expect(violations).toEqual([])
  })

  it('the dialogs are accessible and fit', async () => {
    const { page, show } = opened
    await show(`/destinations/${failingId}`)
    for (const [button, text] of [
      ['Send test message', 'At least one webhook accepted the test message.'],
      ['Preview', 'One message in JSON'],
      ['Pause', 'Hookline sends no requests to this destination'],
      ['Rotate secret', 'Overlap'],
      ['Delete', `Type "${failingId}" to confirm`],
    ] as const) {
      await page.getByRole('button', { name: button, exact: true }).click()
      await page.getByRole('dialog').getByText(text).waitFor()
      if (button === 'Preview') {
        await page.getByRole('button', { name: 'Show requests' }).click()
        await page.getByText('X-Signature: ***').waitFor()
      }
      expect(await accessibilityViolations(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      const focused = page.locator(':focus')
      expect(await focused.textContent()).toBe(button)
    }
  })
})

/** Pages that show `roleNeeded` to a user with the role `read`. */
const operatorPaths = ['/new-destination', '/dead-letters/2-1041', '/resend?destination=billing', '/new-source']
const roleNeeded = 'sign in with a key that has the role "operate"'

describe('with the role read', () => {
  it('no page has a button that changes something, or a body', async () => {
    const { page, show } = await console.open('read')
    const buttons: string[] = []
    for (const [, path, text] of pages) {
      await show(path)
      // Many buttons appear only together with the data of the page.
      const expected = operatorPaths.includes(path) ? roleNeeded : text
      await page.getByText(expected).first().waitFor()
      const names = await page.locator('main button, main a.button').allTextContents()
      buttons.push(...names.filter(name => !['Search', 'Apply filters', 'Next page'].includes(name)))
    }
    expect(buttons).toEqual([])
    await show('/dead-letters/2-1041')
    await page.getByText('To see them, sign in with a key that has the role "operate".').waitFor()
    expect(await page.getByText('Order Completed').count()).toBe(0)
  })
})

describe('an operator service of an earlier version', () => {
  it.each([
    ['dead-letters', '/dead-letters', 'dead letters'],
    ['audiences', '/audiences', 'audiences'],
    ['replays', '/jobs', 'replays'],
  ])('without %s gets a clear message', async (removed, path, what) => {
    const { page, operator, show } = await console.open()
    operator.remove(removed)
    await show(path)
    await page.getByText(`The operator service has no API for ${what}`).waitFor()
  })

  it('without dead-letters gets no number of dead letters of a failing destination', async () => {
    const { page, operator, show } = await console.open()
    operator.remove('dead-letters')
    await show('/')
    const failing = page.getByRole('region', { name: 'Failing destinations' }).getByRole('row', { name: failingId })
    expect(await failing.getByRole('cell').nth(2).textContent()).toBe('–none')
  })
})

it('the files have at most 200 KB compressed', async () => {
  const folder = join(builtConsole, 'assets')
  const files = (await readdir(folder)).filter(name => name.endsWith('.gz')).map(name => join(folder, name))
  const sizes = await Promise.all(
    [...files, join(builtConsole, 'index.html.gz')].map(async file => (await stat(file)).size),
  )
  expect(sizes.length).toBeGreaterThanOrEqual(4)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(200_000)
})
