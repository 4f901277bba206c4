import type { LogEntry, logCreator } from 'kafkajs'
import type { Logger } from '../../core/ports.ts'

/** kafkajs's level of errors; it is part of its interface, the module is not loaded for one number. */
const errorLevel = 1
/** While a broker is away kafkajs says so several times a second. */
const repeatAfterMs = 10_000

/**
 * kafkajs's lines in our log. What it calls an error it tries again, and what it gives up on comes back to us as an error: so its errors are
 * warnings, each line at most every ten seconds, and the rest (joins, rebalances, preferred partitioners) is for debugging.
 */
export function kafkajsLogCreator(logger: Logger, monotonic: () => number = () => performance.now()): logCreator {
  const lastWarned = new Map<string, number>()

  function isRepeated(line: string): boolean {
    const now = monotonic()
    if (now - (lastWarned.get(line) ?? Number.NEGATIVE_INFINITY) < repeatAfterMs) return true
    if (lastWarned.size > 1_000) lastWarned.clear()
    lastWarned.set(line, now)
    return false
  }

  return () => entry => {
    const line = `kafkajs: ${entry.log.message}`
    const isWarning = entry.level === errorLevel && !isAnswer(entry) && !isRepeated(line)
    logger[isWarning ? 'warn' : 'debug'](factsOf(entry), line)
  }
}

/** An error that a broker answers with is thrown too, where it can be told whether it matters: no coordinator yet, a member id needed. */
const isAnswer = ({ log }: LogEntry): boolean => log.message.startsWith('Response ')

/** Plain values only: a nested one may be a whole request. */
function factsOf({ namespace, log }: LogEntry): Record<string, string | number | boolean> {
  const facts: Record<string, string | number | boolean> = { part: namespace }
  for (const [name, value] of Object.entries(log)) {
    if (name === 'message' || name === 'timestamp' || name === 'logger' || name === 'stack') continue
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') facts[name] = value
  }
  return facts
}
