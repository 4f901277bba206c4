import {
  type CallFrame,
  type CpuProfile,
  isMadeAtRunTime,
  labelOf,
  type ProfileNode,
  packageOf,
  selfTimes,
  type Window,
} from './cpu-profile.ts'

/** Whose code it is. */
export type Kind = 'own' | 'http' | 'kafka' | 'packages' | 'node' | 'native' | 'garbage'

/** A function in the place where it was called, with what it called there. */
export interface Frame {
  readonly label: string
  readonly kind: Kind
  /** Microseconds in the function itself. */
  readonly selfUs: number
  /** Microseconds in the function and in all that it called. */
  readonly totalUs: number
  /** Most first. */
  readonly called: readonly Frame[]
}

/** The stacks between two times: those that begin with the same functions share them. What is called by nobody, most first. */
export function mergedStacks(profile: CpuProfile, window: Window): readonly Frame[] {
  const nodes = new Map(profile.nodes.map(node => [node.id, node]))
  const times = selfTimes(profile, window)
  const calledBy = (callers: readonly ProfileNode[]): readonly Frame[] => {
    const called = callers.flatMap(({ children = [] }) => children.flatMap(id => nodes.get(id) ?? []))
    return [...Map.groupBy(called, ({ callFrame }) => labelOf(callFrame)).values()]
      .map(merged)
      .filter(({ totalUs }) => totalUs > 0)
      .sort((a, b) => b.totalUs - a.totalUs)
  }
  const merged = (same: readonly ProfileNode[]): Frame => {
    const { callFrame } = same[0]!
    const called = calledBy(same)
    const selfUs = sum(same.map(({ id }) => times.get(id) ?? 0))
    return {
      label: labelOf(callFrame),
      kind: kindOf(callFrame),
      selfUs,
      totalUs: selfUs + timeOf(called),
      called,
    }
  }
  return calledBy(profile.nodes.slice(0, 1))
}

/** Microseconds of frames and of all that they called. */
export const timeOf = (frames: readonly Frame[]): number => sum(frames.map(({ totalUs }) => totalUs))

const clients: Readonly<Record<string, Kind>> = { undici: 'http', got: 'http', kafkajs: 'kafka' }

export function kindOf(frame: CallFrame): Kind {
  const { functionName, url } = frame
  if (functionName === '(garbage collector)') return 'garbage'
  // avsc's codecs, fastify's serializers.
  if (isMadeAtRunTime(frame)) return 'packages'
  if (url === '' || url.startsWith('wasm:')) return 'native'
  if (url.startsWith('node:')) return 'node'
  return url.includes('/node_modules/') ? (clients[packageOf(url)] ?? 'packages') : 'own'
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)
