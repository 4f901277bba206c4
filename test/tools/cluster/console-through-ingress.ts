import { startBrowser } from '../../support/browser/browser.ts'
import { operatorKey } from '../../support/operator/scripted-deletion-and-audience-api.ts'
import { nodeAddress } from './node-addresses-and-files.ts'

/** The browser resolves every host name to the node, and does not check the certificate. */
export async function useConsole(url: string, destination: string) {
  const browser = await startBrowser([
    `--host-resolver-rules=MAP * ${nodeAddress}`,
    '--ignore-certificate-errors',
    '--no-proxy-server',
  ])
  const failures: string[] = []
  try {
    const { page, violations } = await browser.open()
    const answers: number[] = []
    page.on('response', response => void answers.push(response.status()))
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    const dialog = page.getByRole('dialog')
    const state = page.locator('.page-summary')
    await page.goto(`${url}/console/`)
    await page.getByLabel('Operator key').fill(operatorKey)
    await button('Sign in').click()
    await page.getByText('ada').first().waitFor()
    const [cookie] = await page.context().cookies()
    if (cookie?.secure !== true || !cookie.httpOnly || cookie.sameSite !== 'Strict')
      failures.push(`the session cookie is ${JSON.stringify({ ...cookie, value: '…' })}`)
    await page.getByRole('link', { name: 'Destinations', exact: true }).click()
    await page.getByRole('link', { name: destination, exact: true }).click()
    await button('Pause').click()
    await dialog.getByRole('button', { name: 'Pause' }).click()
    await state.getByText('paused').waitFor()
    const forged = `fetch('/v1/destinations/${destination}/resume', { method: 'POST' }).then(({ status }) => status)`
    const status = await page.evaluate(forged)
    if (status !== 403) failures.push(`a change without the CSRF token got ${status}`)
    await button('Resume').click()
    await dialog.getByRole('button', { name: 'Resume' }).click()
    await button('Pause').waitFor()
    await button('Sign out').click()
    await page.getByLabel('Operator key').waitFor()
    if ((await page.context().cookies()).length > 0) failures.push('the session cookie stays after the sign-out')
    failures.push(...violations, ...answers.filter(each => each >= 500).map(each => `status ${each}`))
    return {
      measured: [`the browser got ${answers.length} responses through the Ingress`],
      failures: failures.map(failure => `console: ${failure}`),
    }
  } catch (error) {
    return { measured: [], failures: [...failures, (error as Error).message].map(failure => `console: ${failure}`) }
  } finally {
    await browser.close()
  }
}
