import { lookEveryMs, OutOfCpu } from '../core/delivery/out-of-cpu.ts'

export interface EventLoopWatch {
  /** Until when this process had more to do than it could, in monotonic milliseconds; -Infinity: never since it is watched. */
  outOfCpuUntil(): number
  stop(): void
}

/** Looks again and again how busy the event loop was. Keeps no process alive. */
export function watchEventLoop(): EventLoopWatch {
  const outOfCpu = new OutOfCpu(performance.now())
  let before = performance.eventLoopUtilization()
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    outOfCpu.look(performance.now(), performance.eventLoopUtilization(now, before).utilization)
    before = now
  }, lookEveryMs)
  timer.unref()
  return { outOfCpuUntil: () => outOfCpu.until(performance.now()), stop: () => clearInterval(timer) }
}
