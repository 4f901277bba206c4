/** A CPU profile of V8 (`--cpu-prof`). Times are monotonic, in µs. */
export interface CpuProfile {
  /** The tree of stacks. The first node is the root. */
  readonly nodes: readonly ProfileNode[]
  readonly startTime: number
  readonly samples: readonly number[]
  /** µs between each sample and the previous one. */
  readonly timeDeltas: readonly number[]
}

interface ProfileNode {
  readonly id: number
  readonly callFrame: CallFrame
  readonly children?: readonly number[]
}

export interface CallFrame {
  readonly functionName: string
  /** Empty for functions of V8 and Node, and for code generated at run time. */
  readonly url: string
  /** From 0. It is 0 or -1 for native functions of V8 and Node. */
  readonly lineNumber: number
}

/** In µs on the clock of the profile. */
export interface Window {
  readonly from: number
  readonly to: number
}

/**
 * Maximum µs for one sample, normally 1,000. A longer time means that the process was stopped or
 * had no core.
 */
const longestLook = 10_000

/** The self time of each node in a period, in µs, without idle time. */
export function selfTimes(
  { nodes, startTime, samples, timeDeltas }: CpuProfile,
  { from, to }: Window,
): ReadonlyMap<number, number> {
  const busy = new Set(nodes.filter(({ callFrame }) => callFrame.functionName !== '(idle)').map(({ id }) => id))
  const times = new Map<number, number>()
  let at = startTime
  samples.forEach((id, index) => {
    at += timeDeltas[index] ?? 0
    const spent = Math.min(timeDeltas[index + 1] ?? 0, longestLook)
    if (busy.has(id) && at >= from && at < to) times.set(id, (times.get(id) ?? 0) + spent)
  })
  return times
}

/**
 * A function with its file and line, for example `post got/dist/index.js:10`, without the
 * directories of this machine.
 */
export const labelOf = (frame: CallFrame): string =>
  `${frame.functionName || '(anonymous)'} ${placeOf(frame)}`.trimEnd()

/**
 * The package or folder of a URL: `…/node_modules/got/dist/x.js` → `got`, `…/src/core/x.ts` →
 * `src/core`.
 */
export function packageOf(url: string): string {
  const [, inModules] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? []
  if (inModules !== undefined) return inModules
  const file = fileOf(url)
  if (url.startsWith('node:')) return file.split('/').slice(0, 2).join('/')
  return file.includes('/') ? file.slice(0, file.lastIndexOf('/')) : file
}

/**
 * Whether `new Function` made a function. V8's code for WebAssembly has no file either, but begins
 * in the first line.
 */
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
