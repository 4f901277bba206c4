import { CpuSaturation } from '../../core/flow/cpu-saturation.ts'
import { flowLimits } from '../../core/flow/limits.ts'

export interface EventLoopWatch {
  /** Until when this process lacked CPU, in monotonic milliseconds; -Infinity: never since it is watched. */
  cpuSaturatedUntil(): number
  stop(): void
}

/** Samples how busy the event loop was. Keeps no process alive. */
export function watchEventLoop(): EventLoopWatch {
  const cpu = new CpuSaturation(performance.now())
  let before = performance.eventLoopUtilization()
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    cpu.sample(performance.now(), performance.eventLoopUtilization(now, before).utilization)
    before = now
  }, flowLimits.cpuSaturation.sampleEveryMs)
  timer.unref()
  return { cpuSaturatedUntil: () => cpu.until(performance.now()), stop: () => clearInterval(timer) }
}
