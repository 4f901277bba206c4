import { setTimeout as delay } from 'node:timers/promises'
import { bounds } from '../bounds.ts'
import { hooklineForwarder } from '../forwarders/hookline.ts'
import { createInstallation } from '../installation-topics.ts'
import { meter, warm } from '../latency-under-load.ts'
import { profileOf } from '../profile-summary.ts'
import { type Bench, type Outcome, scaledSeconds } from './row.ts'

const settleMs = 3_000

/** Measures the CPU use of a process that gets no new events. */
export async function idleRow(bench: Bench): Promise<Outcome> {
  const { stage, transports } = bench
  const installation = await createInstallation(stage)
  const forwarder = hooklineForwarder(transports[0] ?? '')
  const process = await forwarder.start({ stage, installation, inFlight: 512, profile: bench.profile })
  try {
    await warm(stage, installation, process, 0)
    await delay(settleMs)
    const seconds = scaledSeconds(bench, 15)
    const read = meter(process)
    await delay(seconds * 1_000)
    const { cpuShare, window } = read()
    await process.stop()
    bench.say(`${forwarder.name}: idle for ${seconds} s, ${(cpuShare * 100).toFixed(2)} % of a core`)
    return {
      findings: [
        {
          ...{ subject: `${forwarder.name}, idle`, what: 'average CPU use', unit: 'cores', measured: cpuShare },
          ...bounds.idle,
        },
      ],
      figures: [{ forwarder: forwarder.name, seconds, 'average CPU use in cores': cpuShare }],
      profiles: await profileOf(forwarder.name, { profile: process.profile, window }),
    }
  } finally {
    await process.stop()
    await installation.close()
  }
}
