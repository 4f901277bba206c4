import { bounds } from '../bounds.ts'
import { drain } from '../drain-topic.ts'
import { hooklineForwarder } from '../forwarders/hookline.ts'
import { createInstallation } from '../installation-topics.ts'
import { warm } from '../latency-under-load.ts'
import { median } from '../statistics.ts'
import type { Bench, Outcome } from './row.ts'

const starts = 5
const inFlight = 512
const waiting = 1_000

/**
 * Measures the time from the start of a process to its first delivery, in an existing consumer
 * group.
 */
export async function startRow({ stage, transports, say }: Bench): Promise<Outcome> {
  const installation = await createInstallation(stage)
  const forwarder = hooklineForwarder(transports[0] ?? '')
  const job = { stage, installation, inFlight }
  const earlier = await forwarder.start(job)
  await warm(stage, installation, earlier, 0)
  await earlier.stop()
  const seconds: number[] = []
  for (let start = 1; start <= starts; start++) {
    const first = installation.appended()
    await installation.fill(waiting)
    const { firstAfter } = await drain(forwarder, job, { first, count: waiting, delayMs: 0 })
    say(`start ${start}: first delivery after ${firstAfter.toFixed(2)} s`)
    seconds.push(firstAfter)
  }
  await installation.close()
  const subject = forwarder.name
  const measured = median(seconds)
  return {
    findings: [{ subject, what: 'time to the first delivery', unit: 's', measured, ...bounds.firstDelivery }],
    figures: seconds.map((each, index) => ({ start: index + 1, 'first delivery after s': each })),
  }
}
