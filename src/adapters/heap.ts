import { setFlagsFromString } from 'node:v8'

/** As `bin/hookline.js` starts `hookline run`, unless V8's limits were chosen by whoever started it. */
const asStarted = '--heap-growing-percent=100'

/**
 * Lets garbage grow to so many percent of what lives before V8 collects the whole heap, from its next collection on. Nothing happens when the
 * limits were chosen otherwise. V8 looks at this flag whenever it sets itself a limit, so that it may change while the process runs.
 */
export function letGarbageGrow(percent: number): void {
  const chosen = process.execArgv.filter(flag => flag.includes('heap-growing-percent'))
  if (chosen.length === 1 && chosen[0] === asStarted) setFlagsFromString(`--heap-growing-percent=${percent}`)
}
