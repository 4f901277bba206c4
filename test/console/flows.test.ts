import { describe, expect, it } from '@jest/globals'
import { accessibilityViolations } from '../support/browser/accessibility.ts'
import { withConsoleBrowser } from '../support/console/console-browser.ts'
import { disabledId, failedMessage, failingId, oddMessage } from '../support/console/fake-operator-api-data.ts'

const console = withConsoleBrowser()

describe('an operator', () => {
  it('finds the failing destination, reads its last failures, and follows a message', async () => {
    const { page } = await console.open()
    const failing = page.getByRole('region', { name: 'Failing destinations' })
    await failing.getByRole('link', { name: failingId }).click()
    await page.getByRole('heading', { level: 1, name: failingId }).waitFor()
    await page.getByText('circuit breaker open').first().waitFor()
    const failures = page.getByRole('region', { name: 'Last failed attempts' })
    await failures.getByRole('row').nth(12).waitFor()
    expect(await failures.getByRole('row').count()).toBe(13)
    await failures.getByRole('link', { name: failedMessage }).click()
    await page.getByRole('heading', { level: 1, name: `Message ${failedMessage}` }).waitFor()
    const timeline = page.getByRole('region', { name: `Destination ${failingId}` })
    await timeline.getByRole('listitem').nth(4).waitFor()
    expect(await timeline.getByRole('listitem').count()).toBe(5)
    await timeline.getByRole('link', { name: 'show the dead letter' }).click()
    await page.getByText('"html": "<b>x</b>"').waitFor()
  })

  it('replays only the dead letter without a destination that the page shows', async () => {
    const { page, operator, show } = await console.open()
    const { key, ...letter } = operator.deadLetters[0]!
    await page.route(`**/v1/dead-letters/${key}`, route =>
      route.fulfill({ json: { ...letter, key, destination: '-', reason: 'unknown_source' } }),
    )
    await show(`/dead-letters/${key}`)
    const request = page.waitForRequest('**/v1/replays')
    await page.getByRole('button', { name: 'Replay…' }).click()
    expect((await request).postDataJSON()).toEqual({
      filters: { destination: '-', message: failedMessage },
      dryRun: true,
    })
  })

  it('replays dead letters to zero', async () => {
    const { page, operator, show } = await console.open()
    await show(`/dead-letters?destination=${failingId}`)
    await page.getByRole('button', { name: 'Replay all matching dead letters…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('3 dead letters can be replayed.').waitFor()
    await dialog.getByRole('button', { name: 'Replay' }).click()
    await page.getByText('of those that match the filters: 3 replayed, 0 not replayed').waitFor()
    await page.getByText('No dead letter matches the filters.').waitFor()
    expect(operator.deadLetters).toEqual([])
  })

  it('pauses and resumes a destination', async () => {
    const { page, operator, show } = await console.open()
    await show(`/destinations/${failingId}`)
    for (const [button, state] of [
      ['Pause', 'paused'],
      ['Resume', 'enabled'],
    ] as const) {
      await page.getByRole('button', { name: button, exact: true }).click()
      await page.getByRole('dialog').getByRole('button', { name: button }).click()
      await page.locator('.page-summary').getByText(state).waitFor()
    }
    const path = `/v1/destinations/${failingId}`
    expect(operator.changed).toEqual([`POST ${path}/pause`, `POST ${path}/resume`])
  })

  it('enables a destination of the configuration file that Hookline has disabled', async () => {
    const { page, operator, show } = await console.open()
    await show(`/destinations/${disabledId}`)
    const notice = page.getByText('Hookline disabled this destination')
    await notice.waitFor()
    expect(await page.getByRole('button', { name: 'Disable' }).count()).toBe(0)
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Enable' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Enable' }).click()
    await notice.waitFor({ state: 'detached' })
    expect(operator.changed).toEqual([`POST /v1/destinations/${disabledId}/enable`])
  })

  it('adds a destination, corrects its problems, and sees its first delivery', async () => {
    const { page, operator, show } = await console.open()
    await show('/destinations')
    await page.getByRole('link', { name: 'Add a destination' }).click()
    await page.getByLabel('Id').fill('erp')
    await page.getByLabel('URL of webhook 1').fill('hooks.example.com')
    await page.getByText('is not a URL').waitFor()
    await page.getByText('must have at least one entry').waitFor()
    const add = page.getByRole('button', { name: 'Add destination' })
    expect(await add.isDisabled()).toBe(true)
    await page.getByLabel('Sources').fill('web, mobile')
    await page.getByLabel('URL of webhook 1').fill('https://hooks.example.com/erp')
    await page.getByText('The document is valid.').waitFor()
    await add.click()
    await page.getByText('Waiting for the first event.').waitFor()
    expect(operator.destinations.get('erp')?.document).toMatchObject({
      ...{ sources: ['web', 'mobile'], webhooks: [{ url: 'https://hooks.example.com/erp' }] },
    })
    operator.deliverTo('erp')
    await page.getByText('The first delivery has arrived.').waitFor()
  })

  it('resends an hour to a destination', async () => {
    const { page, show } = await console.open()
    await show('/destinations/billing')
    await page.getByRole('link', { name: 'Resend…' }).click()
    await page.getByRole('checkbox', { name: 'track' }).check()
    await page.getByRole('button', { name: 'Resend' }).click()
    await page.getByRole('heading', { level: 1, name: /^Resend j-/ }).waitFor()
    await page.getByText('4,000 of 4,000 events read, 3,990 resent, 10 skipped').waitFor()
  })

  it('deletes a destination after typing its id, and gets a new secret once', async () => {
    const { page, operator, show } = await console.open()
    await show(`/destinations/${failingId}`)
    await page.getByRole('button', { name: 'Rotate secret' }).click()
    const escaped = Promise.withResolvers<void>()
    await page.route('**/rotate-secret', route => escaped.promise.then(() => route.continue()))
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    expect(await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    escaped.resolve()
    await page.getByText('whsec_bmV3IHNlY3JldA==').waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    expect(await page.getByText('whsec_').count()).toBe(0)
    await page.getByRole('button', { name: 'Delete' }).click()
    const confirm = page.getByRole('dialog').getByRole('button', { name: 'Delete' })
    expect(await confirm.isDisabled()).toBe(true)
    await page.getByLabel(`Type "${failingId}" to confirm`).fill(failingId)
    await confirm.click()
    await page.getByRole('heading', { level: 1, name: 'Destinations' }).waitFor()
    expect(operator.destinations.has(failingId)).toBe(false)
  })
})

describe('an operator of sources', () => {
  it('adds a source, corrects its id, and gets its write key once', async () => {
    const { page, operator, show } = await console.open()
    await show('/sources')
    await page.getByRole('link', { name: 'Add a source' }).click()
    const add = page.getByRole('button', { name: 'Add source' })
    expect(await add.isDisabled()).toBe(true)
    await page.getByLabel('Id').fill('mobile')
    await page.getByText('The object has version 3').waitFor()
    await page.getByLabel('Id').fill('shop')
    await page.getByText('The document is valid. Saving it changes these fields: writeKey.').waitFor()
    await add.click()
    const dialog = page.getByRole('dialog', { name: 'Write key of shop' })
    const key = await dialog.getByRole('status').textContent()
    expect(key).toMatch(/^[\w-]{43}$/)
    expect(operator.sources.get('shop')?.document).toEqual({ id: 'shop', writeKey: key })
    expect(await accessibilityViolations(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('heading', { level: 1, name: 'shop' }).waitFor()
    expect(operator.changed).toEqual(['PUT /v1/sources/shop'])
  })

  it('adds a source with a given key, which is not shown again', async () => {
    const { page, operator, show } = await console.open()
    await show('/new-source')
    await page.getByLabel('Id').fill('shop')
    await page.getByLabel('Write key 1').fill('key-of-the-shop')
    await page.getByText('The document is valid.').waitFor()
    await page.getByRole('button', { name: 'Add source' }).click()
    await page.getByRole('heading', { level: 1, name: 'shop' }).waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(operator.sources.get('shop')?.document['writeKey']).toBe('key-of-the-shop')
  })

  it('edits the write keys of a source, and rotates and deletes it', async () => {
    const { page, operator, show } = await console.open()
    await show('/sources')
    await page.getByRole('link', { name: 'mobile', exact: true }).click()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('button', { name: 'Add a write key' }).click()
    await page.getByText('must not be empty').waitFor()
    await page.getByLabel('Write key 2', { exact: true }).fill('second')
    await page.getByText('The document is valid. Saving it changes these fields: writeKey.').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Edit' }).waitFor()
    expect(operator.sources.get('mobile')?.document['writeKey']).toEqual(['***', 'second'])
    await page.getByRole('button', { name: 'Rotate key' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click()
    await page.getByText('wk_new').waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    const confirm = page.getByRole('dialog').getByRole('button', { name: 'Delete' })
    expect(await confirm.isDisabled()).toBe(true)
    await page.getByLabel('Type "mobile" to confirm').fill('mobile')
    await confirm.click()
    await page.getByRole('heading', { level: 1, name: 'Sources' }).waitFor()
    expect(operator.sources.has('mobile')).toBe(false)
    expect(operator.changed).toEqual([
      'PUT /v1/sources/mobile',
      'POST /v1/sources/mobile/rotate-key',
      'DELETE /v1/sources/mobile',
    ])
  })

  it('removes one of two write keys, and sends the fingerprint of the other one', async () => {
    const { page, operator, show } = await console.open()
    operator.sources.set('mobile', {
      ...operator.sources.get('mobile')!,
      document: { id: 'mobile', writeKey: ['***', '***'] },
      fingerprints: { 'writeKey[0]': '5d41402a', 'writeKey[1]': '7d793037' },
    })
    await show('/sources/mobile')
    await page.getByRole('button', { name: 'Edit' }).click()
    expect(await page.getByRole('textbox', { name: 'Write key 1' }).inputValue()).toBe('*** (5d41402a)')
    await page.getByRole('button', { name: 'Remove write key 1' }).click()
    await page.getByText('The document is valid. Saving it changes these fields: writeKey.').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Edit' }).waitFor()
    expect(operator.sources.get('mobile')?.document['writeKey']).toBe('*** (7d793037)')
  })
})

describe('the settings', () => {
  it('show a problem at its line of the JSON, and save a valid document', async () => {
    const { page, operator, show } = await console.open()
    await show(`/destinations/${failingId}`)
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Timeout').fill('soon')
    await page.getByText('is not a duration').waitFor()
    await page.getByText('JSON', { exact: true }).click()
    await page.getByRole('button', { name: /^Line \d+$/ }).click()
    const selected = await page.evaluate(`(() => {
      const { value, selectionStart, selectionEnd } = document.activeElement
      return value.slice(selectionStart, selectionEnd)
    })()`)
    expect(selected).toBe('"timeout": "soon"')
    await page.keyboard.insertText('"timeout": "2s"')
    await page.getByText('The document is valid. Saving it changes these fields: policy.').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Edit' }).waitFor()
    expect(operator.destinations.get(failingId)?.document['policy']).toEqual({ ratePerSecond: 50, timeout: '2s' })
  })
})

describe('the list of destinations', () => {
  it('searches and filters among 10,000, keeps the focus, and has the filters in its address', async () => {
    const { page, show } = await console.open('operate', { destinations: 10_000 })
    await show('/destinations')
    await page.getByRole('link', { name: 'Next page' }).click()
    await page.getByRole('link', { name: 'First page' }).waitFor()
    const search = page.getByLabel('Search')
    await search.fill('customer-0999')
    await page.getByRole('link', { name: 'customer-09993' }).waitFor()
    expect(await page.getByRole('table').getByRole('row').count()).toBe(5)
    expect(await page.evaluate('document.activeElement.value')).toBe('customer-0999')
    await search.fill('')
    await page.getByLabel('State').selectOption('excluded')
    await page.getByRole('link', { name: 'broken' }).waitFor()
    await page.reload()
    await page.getByRole('link', { name: 'broken' }).waitFor()
    expect(await page.getByRole('table').getByRole('row').count()).toBe(2)
  })
})

describe('the search for a message', () => {
  it('finds an id of any characters in the time of the address', async () => {
    const { page, show } = await console.open()
    await show('/messages')
    await page.getByLabel('Message id').fill(oddMessage)
    await page.getByLabel('Received').selectOption('168h')
    const request = page.waitForRequest(each => each.url().includes('/v1/messages/'))
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('heading', { level: 1, name: `Message ${oddMessage}` }).waitFor()
    expect((await request).url()).toContain(`/v1/messages/${encodeURIComponent(oddMessage)}?since=168h`)
    await page.reload()
    await page.getByText('Records in Kafka').waitFor()
    expect(await page.getByLabel('Received').inputValue()).toBe('168h')
  })
})

describe('a session', () => {
  it('that has ended asks for the key, and continues on the same page', async () => {
    const { page, show } = await console.open()
    await show(`/messages/${failedMessage}`)
    await page.context().clearCookies()
    await page.reload()
    await page.getByLabel('Operator key').fill('operate-key')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { level: 1, name: `Message ${failedMessage}` }).waitFor()
  })

  it('that began in another tab replaces the session of this tab', async () => {
    const { page, operator, show } = await console.open()
    await show('/destinations/analytics')
    const other = await page.context().newPage()
    await other.request.post(`${operator.url}/v1/session`, { data: { key: 'read-key' } })
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click()
    await page.getByText('role read').waitFor()
    await page.getByRole('button', { name: 'Resume' }).waitFor({ state: 'detached' })
    expect(operator.changed).toEqual([])
  })
})
