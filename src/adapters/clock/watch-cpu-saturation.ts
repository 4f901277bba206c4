import { CpuSaturation } from '../../core/flow/cpu-saturation.ts'
import { flowLimits } from '../../core/flow/flow-control-constants.ts'

export interface EventLoopWatch {
  /**
   * The end of the latest period in which this process lacked CPU, in monotonic milliseconds;
   * `-Infinity` if none.
   */
  cpuSaturatedUntil(): number
  stop(): void
}

/** Samples the utilization of the event loop. Its timer does not keep the process alive. */
export function watchEventLoop(): EventLoopWatch {
  const cpu = new CpuSaturation(performance.now())
  let before = performance.eventLoopUtilization()
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    cpu.sample(performance.now(), performance.eventLoopUtilization(now, before).utilization)
    before = now
  }, flowLimits.cpuSaturation.sampleEveryMs)
  timer.unref()
  return { cpuSaturatedUntil: () => cpu.lastSaturatedAt(performance.now()), stop: () => clearInterval(timer) }
}
