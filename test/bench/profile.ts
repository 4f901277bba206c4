import { readFile } from 'node:fs/promises'

/** What V8 writes (`--cpu-prof`); times in microseconds on the monotonic clock. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  readonly startTime: number
  readonly samples: readonly number[]
  /** Before each sample, since the one before. */
  readonly timeDeltas: readonly number[]
}

export interface Share {
  readonly name: string
  readonly ms: number
  /** Of all time that was not idle, 0 to 1. */
  readonly share: number
}

export interface Summary {
  readonly busyMs: number
  readonly packages: readonly Share[]
  readonly functions: readonly Share[]
}

interface Window {
  readonly from: number
  readonly to: number
}

const shownPackages = 25
const shownFunctions = 30

/** Where the time of a run's steady part went, as lines; none when there is no profile. */
export async function profileOf(
  title: string,
  run: { readonly profile: string | undefined; readonly window: Window },
): Promise<readonly string[]> {
  if (run.profile === undefined) return []
  const { busyMs, packages, functions } = summarise(JSON.parse(await readFile(run.profile, 'utf8')), run.window)
  const lineOf = ({ name, ms, share }: Share): string =>
    `${(share * 100).toFixed(1).padStart(5)} %  ${Math.round(ms).toString().padStart(6)} ms  ${name}`
  return [
    '',
    title,
    `  ${Math.round(busyMs)} ms of CPU in the steady part, self time by package:`,
    ...packages.slice(0, shownPackages).map(lineOf),
    '  by function:',
    ...functions.slice(0, shownFunctions).map(lineOf),
  ]
}

/** Self time by package and by function between two times, most first. */
export function summarise({ nodes, startTime, samples, timeDeltas }: CpuProfile, { from, to }: Window): Summary {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const byPackage = new Map<string, number>()
  const byFunction = new Map<string, number>()
  let busy = 0
  let at = startTime
  samples.forEach((id, index) => {
    at += timeDeltas[index] ?? 0
    // Until the next sample it is taken for being there.
    const spent = timeDeltas[index + 1] ?? 0
    const frame = frames.get(id)
    if (frame === undefined || frame.functionName === '(idle)' || at < from || at >= to) return
    busy += spent
    add(byPackage, packageOf(frame.url) || frame.functionName, spent)
    add(byFunction, `${frame.functionName || '(anonymous)'} ${placeOf(frame)}`.trimEnd(), spent)
  })
  const sharesOf = (times: ReadonlyMap<string, number>): readonly Share[] =>
    [...times].map(([name, spent]) => ({ name, ms: spent / 1_000, share: spent / busy })).sort((a, b) => b.ms - a.ms)
  return { busyMs: busy / 1_000, packages: sharesOf(byPackage), functions: sharesOf(byFunction) }
}

/** `…/node_modules/got/dist/x.js` → `got`; `…/src/core/delivery/lane.ts` → `src/core/delivery`; `node:internal/streams/x` → `node:internal/streams`. */
export function packageOf(url: string): string {
  const [, inModules] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? []
  if (inModules !== undefined) return inModules
  if (url.startsWith('node:')) return url.split('/').slice(0, 2).join('/')
  const [, own] = /\/((?:src|test|bin)\/.*)\/[^/]+$/.exec(url) ?? []
  return own ?? url
}

function placeOf({ url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string {
  const short = url.replace(/.*\/node_modules\//, '').replace(/^file:.*?\/(?=(?:src|test|bin)\/)/, '')
  return short === '' ? '' : `${short}:${lineNumber + 1}`
}

function add(times: Map<string, number>, name: string, spent: number): void {
  times.set(name, (times.get(name) ?? 0) + spent)
}
