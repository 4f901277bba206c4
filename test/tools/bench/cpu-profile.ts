/** What V8 writes (`--cpu-prof`); times in microseconds on the monotonic clock. */
export interface CpuProfile {
  /** Every stack that was seen is a path from the first one. */
  readonly nodes: readonly ProfileNode[]
  readonly startTime: number
  readonly samples: readonly number[]
  /** Before each sample, since the one before. */
  readonly timeDeltas: readonly number[]
}

interface ProfileNode {
  readonly id: number
  readonly callFrame: CallFrame
  readonly children?: readonly number[]
}

export interface CallFrame {
  readonly functionName: string
  /** Empty for what is not in a file: V8's and Node's own functions, and what is put together at run time. */
  readonly url: string
  /** From 0; 0 or -1 for what has no file and was not written in JavaScript either. */
  readonly lineNumber: number
}

/** On the same clock. */
export interface Window {
  readonly from: number
  readonly to: number
}

/** In microseconds; V8 looks every one thousand. Who was not looked at for longer was not at work: it was stopped, or had no core. */
const longestLook = 10_000

/** Microseconds that each node was at work itself between two times, by its id; nothing of what was idle. */
export function selfTimes(
  { nodes, startTime, samples, timeDeltas }: CpuProfile,
  { from, to }: Window,
): ReadonlyMap<number, number> {
  const busy = new Set(nodes.filter(({ callFrame }) => callFrame.functionName !== '(idle)').map(({ id }) => id))
  const times = new Map<number, number>()
  let at = startTime
  samples.forEach((id, index) => {
    at += timeDeltas[index] ?? 0
    // Until the next sample it is taken for being there.
    const spent = Math.min(timeDeltas[index + 1] ?? 0, longestLook)
    if (busy.has(id) && at >= from && at < to) times.set(id, (times.get(id) ?? 0) + spent)
  })
  return times
}

/** `post got/dist/index.js:10`: with nothing of where this machine keeps it. */
export const labelOf = (frame: CallFrame): string =>
  `${frame.functionName || '(anonymous)'} ${placeOf(frame)}`.trimEnd()

/** `…/node_modules/got/dist/x.js` → `got`; `…/src/core/delivery/lane.ts` → `src/core/delivery`; `node:internal/streams/x` → `node:internal/streams`. */
export function packageOf(url: string): string {
  const [, inModules] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? []
  if (inModules !== undefined) return inModules
  const file = fileOf(url)
  if (url.startsWith('node:')) return file.split('/').slice(0, 2).join('/')
  return file.includes('/') ? file.slice(0, file.lastIndexOf('/')) : file
}

/** `new Function` puts two lines before what it is given: such code never begins in the first one, as the ways into WebAssembly and out of it do. */
const isMadeAtRunTime = ({ url, lineNumber }: Pick<CallFrame, 'url' | 'lineNumber'>): boolean =>
  url === '' && lineNumber > 0

function placeOf({ url, lineNumber }: CallFrame): string {
  if (url === '') return isMadeAtRunTime({ url, lineNumber }) ? '(made at run time)' : ''
  return `${fileOf(url)}:${lineNumber + 1}`
}

function fileOf(url: string): string {
  if (url.startsWith('node:')) return url
  if (url.startsWith('wasm:')) return 'wasm'
  const [, known] = /.*\/node_modules\/(.+)/.exec(url) ?? /.*\/((?:src|test|bin)\/.+)/.exec(url) ?? []
  return known ?? url.slice(url.lastIndexOf('/') + 1)
}
