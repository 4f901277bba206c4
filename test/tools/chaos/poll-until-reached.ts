import { setTimeout as delay } from 'node:timers/promises'

/**
 * Checks a condition every `everyMs`. Resolves with false if it does not hold within `patienceMs`.
 */
export async function reached(
  condition: () => boolean | Promise<boolean>,
  { everyMs, patienceMs }: { readonly everyMs: number; readonly patienceMs: number },
): Promise<boolean> {
  const deadline = performance.now() + patienceMs
  while (!(await condition())) {
    if (performance.now() > deadline) return false
    await delay(everyMs)
  }
  return true
}
