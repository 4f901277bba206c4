import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from '@jest/globals'
import { type PanelSeen, unfinished, untilDrawn } from '../../pictures/drawn.ts'
import { ManualClock } from '../../support/manual-clock.ts'

const panels = [
  { id: 1, type: 'row', title: 'Lag' },
  { id: 2, type: 'timeseries', title: 'Records behind' },
  { id: 3, type: 'stat', title: 'Oldest' },
]
const graph: PanelSeen = { id: 2, isLoading: false, hasFailed: false, isPainted: true, text: 'orders-0' }
const stat: PanelSeen = { id: 3, isLoading: false, hasFailed: false, isPainted: false, text: '4 s' }
const all = [graph, stat]

describe('what is not drawn', () => {
  it.each<[string, readonly PanelSeen[], readonly string[]]>([
    ['all is', all, []],
    ['a row need not be there', [...all, { ...stat, id: 1, text: '' }], []],
    ['a page that has only begun', [], ['Records behind: is not there', 'Oldest: is not there']],
    [
      'queries under way, beside what was drawn before',
      [{ ...graph, isLoading: true }, stat],
      ['Records behind: is loading'],
    ],
    ['a query that has failed', [{ ...graph, hasFailed: true }, stat], ['Records behind: shows an error']],
    ['a graph whose legend is there only', [{ ...graph, isPainted: false }, stat], ['Records behind: is blank']],
    ['a graph without data says so', [{ ...graph, isPainted: false, text: 'No data' }, stat], []],
    ['a number without a canvas is text', [graph, { ...stat, text: '' }], ['Oldest: is blank']],
  ])('%s', (_, seen, complaints) => {
    expect(unfinished(panels, seen)).toEqual(complaints)
  })
})

/** One look after the other; the last one again and again. */
function wait(looks: readonly (readonly PanelSeen[])[]) {
  const clock = new ManualClock()
  let count = 0
  const look = async (): Promise<readonly PanelSeen[]> => looks[Math.min(count++, looks.length - 1)] ?? []
  const state = { end: 'waits' }
  untilDrawn(panels, look, clock).then(
    () => (state.end = 'drawn'),
    error => (state.end = error.message),
  )
  return {
    state,
    pass: (ms: number): Promise<void> => clock.advance(ms, async () => void (await turn())),
    looks: () => count,
    timers: () => clock.timers,
  }
}

describe('a picture waits', () => {
  it('until all is drawn, and has stayed so for a second', async () => {
    const { state, pass, looks, timers } = wait([[], [graph], all])
    await pass(1_900)
    expect(state.end).toBe('waits')
    await pass(100)
    expect([state.end, looks(), timers()]).toEqual(['drawn', 5, 0])
  })

  it('anew when something is asked again meanwhile', async () => {
    const { state, pass } = wait([all, all, [{ ...graph, isLoading: true }, stat], all])
    await pass(2_400)
    expect(state.end).toBe('waits')
    await pass(100)
    expect(state.end).toBe('drawn')
  })

  it.each<[string, readonly (readonly PanelSeen[])[], string]>([
    ['what is missing', [[graph]], 'Oldest: is not there'],
    [
      'that it never settles',
      Array.from({ length: 240 }, (_, index) => (index % 2 === 0 ? [] : all)),
      'all panels are drawn, but do not stay so',
    ],
  ])('for two minutes, and then says %s', async (_, looks, complaint) => {
    const { state, pass, timers } = wait(looks)
    await pass(119_900)
    expect(state.end).toBe('waits')
    await pass(100)
    expect([state.end, timers()]).toEqual([`not drawn after 120 s:\n  ${complaint}`, 0])
  })

  it('as long for a page that does not answer', async () => {
    const clock = new ManualClock()
    const waiting = untilDrawn(panels, () => new Promise(() => undefined), clock)
    const refused = expect(waiting).rejects.toThrow('not drawn after 120 s:\n  the page does not answer')
    await clock.advance(120_000)
    await refused
  })

  it('no longer than it can look', async () => {
    const clock = new ManualClock()
    const gone = untilDrawn(panels, () => Promise.reject(new Error('the browser is gone')), clock)
    await expect(gone).rejects.toThrow('the browser is gone')
    expect(clock.timers).toBe(0)
  })
})
