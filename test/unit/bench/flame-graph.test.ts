import { describe, expect, it } from '@jest/globals'
import { fileNameOf, flameGraph } from '../../bench/publication/flame-graph.ts'
import type { Frame, Kind } from '../../bench/stacks.ts'

const frame = (label: string, kind: Kind, selfUs: number, called: readonly Frame[] = []): Frame => ({
  ...{ label, kind, selfUs, called },
  totalUs: called.reduce((sum, { totalUs }) => sum + totalUs, selfUs),
})

interface Drawn {
  readonly told: string
  readonly kind: string
  readonly x: number
  readonly y: number
  readonly width: number
  /** What can be read on it. */
  readonly words: string | undefined
}

const drawnIn = (svg: string): readonly Drawn[] =>
  [
    ...svg.matchAll(
      /<g><title>(.*?)<\/title><rect class="(\w+)" x="(.*?)" y="(.*?)" width="(.*?)" height="16"\/>(?:<text[^>]*>(.*?)<\/text>)?<\/g>/g,
    ),
  ].map(([, told = '', kind = '', x, y, width, words]) => ({
    ...{ told, kind, words },
    ...{ x: Number(x), y: Number(y), width: Number(width) },
  }))

const stacks = [
  frame('tick node:timers:10', 'node', 100_000, [
    frame('post src/core/delivery/lane.ts:10', 'own', 200_000, [frame('write<T> & co', 'native', 300_000)]),
    frame('(anonymous) kafkajs/src/network/connection.js:7', 'kafka', 50_000),
  ]),
  frame('(garbage collector)', 'garbage', 349_300),
  frame('hardly seen', 'packages', 700),
]
const svg = flameGraph('delivery: hookline undici, 20 ms', '2026-01-02, commit abc; one machine; core 1.', stacks)

describe('a flame graph', () => {
  it('has frames as wide as their time, each on its caller, with its figures to be read out; nothing below 0.1 %', () => {
    const drawn = drawnIn(svg)
    const ground = Math.max(...drawn.map(({ y }) => y))
    expect(
      drawn.map(({ told, kind, x, y, width }) => ({
        told,
        kind,
        level: (ground - y) / 16,
        begins: Number(((x - 12) / 976).toFixed(3)),
        share: Number((width / 976).toFixed(3)),
      })),
    ).toEqual([
      { told: 'tick node:timers:10: 65.0 %, 650 ms; itself 10.0 %', kind: 'node', level: 0, begins: 0, share: 0.65 },
      {
        told: 'post src/core/delivery/lane.ts:10: 50.0 %, 500 ms; itself 20.0 %',
        ...{ kind: 'own', level: 1, begins: 0, share: 0.5 },
      },
      {
        told: '(garbage collector): 34.9 %, 349 ms; itself 34.9 %',
        ...{ kind: 'garbage', level: 0, begins: 0.65, share: 0.349 },
      },
      { told: 'write&lt;T> &amp; co: 30.0 %, 300 ms; itself 30.0 %', kind: 'native', level: 2, begins: 0, share: 0.3 },
      {
        told: '(anonymous) kafkajs/src/network/connection.js:7: 5.0 %, 50 ms; itself 5.0 %',
        ...{ kind: 'kafka', level: 1, begins: 0.5, share: 0.05 },
      },
    ])
  })

  it('shows of a label what fits; of a function without a name its file', () =>
    expect(drawnIn(svg).map(({ words }) => words)).toEqual([
      'tick node:timers:10',
      'post src/core/delivery/lane.ts:10',
      '(garbage collector)',
      'write&lt;T> &amp; co',
      'conne…',
    ]))

  it('says in words what it shows: title, circumstances, and whose code took what itself, what is not drawn included', () => {
    const words = [...svg.replaceAll(/<g>.*?<\/g>/g, '').matchAll(/<text[^>]*>(.*?)<\/text>/g)].map(([, each]) => each)
    expect(words).toEqual([
      'delivery: hookline undici, 20 ms: 1,000 ms of CPU',
      '2026-01-02, commit abc',
      'one machine; core 1.',
      'this project 20.0 %',
      'undici, got 0.0 %',
      'kafkajs 5.0 %',
      'other packages 0.1 %',
      'Node 10.0 %',
      'native code 30.0 %',
      'garbage collector 34.9 %',
    ])
  })

  it('of many functions stays below 150 KB', () => {
    const label = 'aFunctionWithALongName src/services/dispatcher/a-file-with-a-long-name.ts:100'
    const many = Array.from({ length: 900 }, () => frame(label, 'own', 1_000))
    const large = flameGraph('many', '', many)
    expect(drawnIn(large)).toHaveLength(600)
    expect(large.length).toBeLessThan(150_000)
  })

  it('of nothing says so', () => {
    const empty = flameGraph('idle', 'a day; a machine', [])
    expect(empty).toContain('idle: 0 ms of CPU')
    expect(empty).not.toMatch(/NaN|undefined|Infinity/)
  })
})

it('a file has the name of its row, forwarder and case', () =>
  expect(fileNameOf('delivery: 2 × hookline undici, 20 ms')).toBe('delivery-2-hookline-undici-20-ms.svg'))
