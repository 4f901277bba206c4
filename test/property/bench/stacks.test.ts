import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { type CpuProfile, labelOf } from '../../bench/cpu-profile.ts'
import { laidOut } from '../../bench/publication/flame-graph.ts'
import { type Frame, mergedStacks, timeOf } from '../../bench/stacks.ts'

/** Few names: many stacks are alike. */
const name = fc.constantFrom('a', 'b', 'c', '(idle)')
const profiles = fc
  .record({
    nodes: fc.array(fc.record({ name, caller: fc.nat() }), { minLength: 1, maxLength: 60 }),
    samples: fc.array(fc.record({ node: fc.nat(), delta: fc.nat(1_000) }), { maxLength: 80 }),
  })
  .map(({ nodes, samples }) => {
    // The first is the root; each has been called by one before it.
    const callers = nodes.map(({ caller }, index) => caller % (index + 1))
    const profile: CpuProfile = {
      nodes: [{ name: '(root)' }, ...nodes].map((node, id) => ({
        id,
        callFrame: { functionName: node.name, url: '', lineNumber: -1 },
        children: callers.flatMap((caller, index) => (caller === id ? [index + 1] : [])),
      })),
      startTime: 0,
      samples: samples.map(({ node }) => 1 + (node % nodes.length)),
      timeDeltas: samples.map(({ delta }) => delta),
    }
    return { profile, callers }
  })
const windows = fc.tuple(fc.nat(40_000), fc.nat(40_000)).map(([one, other]) => ({
  from: Math.min(one, other),
  to: Math.max(one, other),
}))

type Times = Record<string, number>

/** By the rule: each sample is a stack, from the sampled function to the root. */
function timesBySample(
  { profile, callers }: { profile: CpuProfile; callers: readonly number[] },
  from: number,
  to: number,
): Times {
  const stackOf = (id: number): readonly string[] =>
    id === 0 ? [] : [...stackOf(callers[id - 1] ?? 0), labelOf(profile.nodes[id]!.callFrame)]
  const times: Times = {}
  let at = 0
  profile.samples.forEach((id, index) => {
    at += profile.timeDeltas[index] ?? 0
    const stack = stackOf(id)
    const spent = profile.timeDeltas[index + 1] ?? 0
    if (at < from || at >= to || stack.at(-1) === '(idle)' || spent === 0) return
    times[stack.join(';')] = (times[stack.join(';')] ?? 0) + spent
  })
  return times
}

const timesOf = (frames: readonly Frame[], callers: readonly string[] = []): Times =>
  Object.assign(
    {},
    ...frames.map(({ label, selfUs, called }) => ({
      ...(selfUs > 0 && { [[...callers, label].join(';')]: selfUs }),
      ...timesOf(called, [...callers, label]),
    })),
  )

const callersIn = (frames: readonly Frame[], caller?: Frame): readonly (readonly [Frame, Frame | undefined])[] =>
  frames.flatMap(frame => [[frame, caller] as const, ...callersIn(frame.called, frame)])

it('merged stacks have the time of the samples, stack by stack', () => {
  fc.assert(
    fc.property(profiles, windows, (made, { from, to }) => {
      expect(timesOf(mergedStacks(made.profile, { from, to }))).toEqual(timesBySample(made, from, to))
    }),
  )
})

it('callers have at least the time of what they call, and no function stands twice on the same caller', () => {
  fc.assert(
    fc.property(profiles, windows, ({ profile }, window) => {
      const stacks = mergedStacks(profile, window)
      for (const frames of [stacks, ...callersIn(stacks).map(([{ called }]) => called)])
        expect(new Set(frames.map(({ label }) => label)).size).toBe(frames.length)
      for (const [{ selfUs, totalUs, called }] of callersIn(stacks)) {
        expect(totalUs).toBeGreaterThan(0)
        expect(timeOf(called) + selfUs).toBe(totalUs)
      }
    }),
  )
})

it('frames lie on their callers, beside one another, as wide as their time, however many are left out', () => {
  const limits = fc.record({
    narrowest: fc.double({ min: 0, max: 0.2, noNaN: true }),
    most: fc.integer({ min: 1, max: 40 }),
  })
  fc.assert(
    fc.property(profiles, limits, ({ profile }, { narrowest, most }) => {
      const stacks = mergedStacks(profile, { from: 0, to: Number.POSITIVE_INFINITY })
      const callers = new Map(callersIn(stacks))
      const placed = new Map(laidOut(stacks, { narrowest, most }).map(each => [each.frame, each]))
      const seen = [...callers.keys()].filter(({ totalUs }) => totalUs / timeOf(stacks) >= narrowest)
      expect(placed.size).toBe(Math.min(most, seen.length))
      for (const { frame, level, from, share } of placed.values()) {
        expect(share).toBeCloseTo(frame.totalUs / timeOf(stacks), 9)
        const caller = callers.get(frame)
        const below = caller === undefined ? { level: -1, from: 0, share: 1 } : placed.get(caller)
        expect(below?.level).toBe(level - 1)
        expect(from).toBeGreaterThanOrEqual((below?.from ?? 1) - 1e-9)
        expect(from + share).toBeLessThanOrEqual((below?.from ?? 0) + (below?.share ?? 0) + 1e-9)
        for (const other of placed.values())
          if (other.level === level && other.frame !== frame)
            expect(other.from >= from + share - 1e-9 || from >= other.from + other.share - 1e-9).toBe(true)
      }
    }),
  )
})
