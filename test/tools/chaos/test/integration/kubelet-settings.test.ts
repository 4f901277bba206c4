import { expect, it } from '@jest/globals'
import { rendered } from '../../../../support/deploy/manifests/renderings.ts'
import { deploymentsIn, type Probe } from '../../../../support/deploy/manifests/workloads.ts'
import { livenessProbe, readinessProbe } from '../../kubelet.ts'

const settingsOf = ({ periodSeconds = 0, failureThreshold = 0, timeoutSeconds = 0 }: Probe = {}) => ({
  periodMs: periodSeconds * 1_000,
  failureThreshold,
  timeoutMs: timeoutSeconds * 1_000,
})

it('probes processes with the settings of every Deployment of the chart', async () => {
  const containers = deploymentsIn(await rendered()).flatMap(({ spec }) => spec.template.spec.containers)
  expect(containers.length).toBeGreaterThan(1)
  for (const container of containers) {
    expect(settingsOf(container.livenessProbe)).toEqual(livenessProbe)
    // `readinessProbe` polls more often than the chart, to measure how long a process is not ready.
    const { timeoutMs, periodMs } = settingsOf(container.readinessProbe)
    expect(readinessProbe.timeoutMs).toBe(timeoutMs)
    expect(readinessProbe.periodMs).toBeLessThanOrEqual(periodMs)
  }
})
