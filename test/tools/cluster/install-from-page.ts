import type { Ledger } from '../chaos/message-ledger.ts'
import { reached } from '../chaos/poll-until-reached.ts'
import { destinations, type Installation } from './installation.ts'
import type { Row } from './run-scenario.ts'

const deliveryPatienceMs = 120_000

const shows = [
  'steps 2 to 4 of the page about deployment, from the Secret to the first delivery',
  'The test builds the image from the Dockerfile of step 1, because `make image` needs Docker',
  'The values have the address of this image, one broker, and endpoints on this machine',
  'The commands for an installation without Helm run with `--dry-run=server`, so they change nothing',
].join('. ')

/**
 * Follows steps 2 to 4 of docs/how-to/deploy-on-kubernetes.md, in a namespace with the restricted
 * Pod Security Standard.
 */
export async function install(installation: Installation, say: (line: string) => void): Promise<Row> {
  const { shell, ledger, page } = installation
  const measured: string[] = []
  const step = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const before = performance.now()
    await work()
    measured.push(`${name} ${((performance.now() - before) / 1_000).toFixed(1)} s`)
    say(measured.at(-1) ?? '')
  }
  await step('secrets', () => shell(page.secrets))
  await shell('kubectl label namespace hookline pod-security.kubernetes.io/enforce=restricted')
  const begun = performance.now()
  await step('helm', () => shell(page.install))
  await step('checks and message', () => shell(page.check))
  await step('delivery to both destinations', () => delivered(ledger))
  const total = ((performance.now() - begun) / 1_000).toFixed(1)
  await step('check of the rendered manifests', () => shell(page.apply.replace(' apply ', ' apply --dry-run=server ')))
  const restarts = (await installation.pods()).reduce((sum, pod) => sum + pod.restarts, 0)
  const calls = Map.groupBy(ledger.calls, ({ destination, id }) => `${destination} ${id}`)
  const duplicates = [...calls.values()].reduce((sum, all) => sum + all.length - 1, 0)
  const failures = [
    ...(restarts > 0 ? [`restarts: ${restarts}, limit 0`] : []),
    ...(duplicates > 0 ? [`duplicates: ${duplicates}`] : []),
  ]
  return {
    ...{ name: 'install', shows },
    ...{ sent: destinations.length, delivered: destinations.length, lost: 0 },
    duplicates: { inProgress: 0, ours: duplicates },
    ...{ refused: 0, restarts, p50Ms: null, p99Ms: null, latestMs: null, pauseMs: null, failures },
    measured: [`first delivery ${total} s after \`helm upgrade --install\``, ...measured],
  }
}

/** @throws when a destination has got no request after two minutes */
async function delivered(ledger: Ledger): Promise<void> {
  const isDelivered = (): boolean =>
    destinations.every(destination => ledger.calls.some(call => call.destination === destination))
  if (!(await reached(isDelivered, { everyMs: 50, patienceMs: deliveryPatienceMs })))
    throw new Error(`no delivery to ${destinations.join(' and ')} within ${deliveryPatienceMs / 1_000} s`)
}
