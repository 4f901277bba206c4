import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { accessibilityViolations } from '../../support/browser/accessibility.ts'
import { desktop, phone, startBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import {
  type ConsoleInstallation,
  operateKey,
  readKey,
  signIn,
  startConsoleInstallation,
} from '../../support/browser/console-installation.ts'
import { takePicture } from '../../support/browser/screenshot.ts'
import { until } from '../../support/kafka/admin.ts'

let hookline: ConsoleInstallation
let browser: TestBrowser
beforeAll(async () => {
  const [installation, started] = await Promise.all([startConsoleInstallation(), startBrowser()])
  hookline = installation
  browser = started
})
afterAll(async () => {
  await browser?.close()
  await hookline?.close()
})

describe('the page to sign in', () => {
  it.each([
    ['1,280 pixels, light', desktop, 'light'],
    ['390 pixels, dark', phone, 'dark'],
  ] as const)('is accessible and fits at %s', async (_, viewport, colorScheme) => {
    const { page, violations } = await browser.open({ viewport, colorScheme })
    await page.goto(hookline.url)
    await page.getByLabel('Operator key').waitFor()
    expect(page.url()).toBe(`${hookline.url}/console/`)
    expect(await accessibilityViolations(page)).toEqual([])
    const width = await page.evaluate('document.documentElement.scrollWidth')
    expect(width).toBeLessThanOrEqual(viewport.width)
    if (viewport === desktop) await takePicture(page, 'sign-in')
    expect(violations).toEqual([])
  })

  it('says that a key is wrong, and keeps the browser signed out', async () => {
    const { page } = await browser.open()
    await signIn(page, hookline.url, 'not-a-key')
    const alert = page.getByRole('alert')
    await alert.waitFor()
    expect(await alert.textContent()).toContain('This operator key is not valid')
    expect(await page.context().cookies()).toEqual([])
    expect(await accessibilityViolations(page)).toEqual([])
  })
})

describe('a session', () => {
  it.each([
    ['operate', 'ada', operateKey],
    ['read', 'dashboard', readKey],
  ])(
    'with the role %s survives a reload, hides its cookie from scripts, and ends with the sign-out',
    async (role, name, key) => {
      const { page, violations } = await browser.open()
      await signIn(page, hookline.url, key)
      await page.getByText(name).first().waitFor()
      const [cookie] = await page.context().cookies()
      expect(cookie).toMatchObject({
        name: expect.stringMatching(/^hookline_session_\d+$/),
        httpOnly: true,
        sameSite: 'Strict',
        path: '/',
      })
      expect(await page.evaluate('document.cookie')).toBe('')
      await page.reload()
      await page.getByText(role).first().waitFor()
      expect(await accessibilityViolations(page)).toEqual([])
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByLabel('Operator key').waitFor()
      expect(await page.context().cookies()).toEqual([])
      await page.reload()
      await page.getByLabel('Operator key').waitFor()
      expect(violations).toEqual([])
    },
  )

  it('is in the audit log with its beginning and its end', async () => {
    const lines = (await hookline.installation.log()).filter(({ audit, key }) => audit === true && key === 'dashboard')
    const [begun, ended] = lines
    expect(lines.map(({ action, result }) => [action, result])).toEqual([
      ['sign_in', 'ok'],
      ['sign_out', 'ok'],
    ])
    expect(begun?.['session']).toEqual(expect.any(String))
    expect(ended?.['session']).toBe(begun?.['session'])
  })
})

describe('the Content-Security-Policy', () => {
  it('blocks scripts and styles in the page, and requests to other hosts', async () => {
    const { page, violations } = await browser.open()
    await page.goto(`${hookline.url}/console/`)
    await page.evaluate(`(() => {
      const script = document.createElement('script')
      script.textContent = 'window.injected = true'
      const style = document.createElement('style')
      style.textContent = 'body { display: none }'
      document.body.append(script, style)
    })()`)
    await page.evaluate(`fetch('http://127.0.0.1:9/').catch(() => {})`)
    expect(await page.evaluate('window.injected')).toBeUndefined()
    // The browser reports violations independently of the results of `evaluate`.
    await until(async () => violations.length >= 3 || undefined)
    expect(violations.map(text => text.replace(/ blocked .*/, '')).sort()).toEqual([
      ...['connect-src', 'script-src-elem', 'style-src-elem'],
    ])
  })

  it('lets no other page show the console in a frame', async () => {
    const { page } = await browser.open()
    await page.goto(`${hookline.url}/openapi.json`)
    await page.evaluate(`(() => {
      const frame = document.createElement('iframe')
      frame.src = '/console/'
      document.body.append(frame)
      return new Promise(done => frame.addEventListener('load', done))
    })()`)
    await page.frames()[1]?.waitForURL('chrome-error://chromewebdata/', { waitUntil: 'commit' })
    expect(page.frames().map(frame => frame.url())).toEqual([
      `${hookline.url}/openapi.json`,
      'chrome-error://chromewebdata/',
    ])
  })
})
