import { describe, expect, it } from '@jest/globals'
import { judgeFlatness, type Sample } from '../resource-growth-verdict.ts'

const level = { resident: 200, heap: 80, descriptors: 40, timers: 20 }
const looks = (holds: (look: number) => Partial<Sample['holds']>): readonly Sample[] =>
  Array.from({ length: 100 }, (_, look) => ({
    process: 'p1',
    at: 5_000 + look * 72_727,
    holds: { ...level, ...holds(look) },
  }))

describe('the verdict on resources that a process holds', () => {
  it.each<[name: string, samples: readonly Sample[], failures: readonly RegExp[]]>([
    ['constant', looks(() => ({})), []],
    ['shrinks', looks(look => ({ heap: 80 - look / 2, descriptors: 40 - look / 5 })), []],
    ['varies with garbage collection', looks(look => ({ heap: 80 + (look % 9) * 20 })), []],
    ['rises once and falls again', looks(look => (look > 40 && look < 50 ? { resident: 400, timers: 900 } : {})), []],
    [
      'varies, with a growing minimum',
      looks(look => ({ heap: 80 + (look % 9) * 20 + look * 0.4 })),
      [/^p1 grows too fast: heap .* MB \(\+\d/],
    ],
    [
      'ten descriptors in two hours',
      looks(look => ({ descriptors: 40 + look / 10 })),
      [/^p1 grows too fast: file descriptors/],
    ],
    ['twenty timers in two hours', looks(look => ({ timers: 20 + look / 5 })), [/^p1 grows too fast: timers/]],
    [
      '15 MB per hour',
      looks(look => ({ resident: 200 + look * 0.3 })),
      [/^p1 grows too fast: resident memory 213.5 MB \(\+15 per hour\)/],
    ],
    ['10 MB per hour, which a collection may leave', looks(look => ({ resident: 200 + look * 0.2 })), []],
    [
      'one of two processes grows',
      [...looks(() => ({})).map(each => ({ ...each, process: 'p2' })), ...looks(look => ({ timers: 20 + look }))],
      [/^p1 grows too fast: timers/],
    ],
    ['no samples', [], [/^no process was sampled$/]],
  ])('%s', (_, samples, failures) => {
    expect(judgeFlatness(samples).failures).toEqual(failures.map(each => expect.stringMatching(each)))
  })

  it('reports the figures of each process', () => {
    expect(judgeFlatness(looks(look => ({ timers: 20 + look / 100 }))).measured).toEqual([
      'p1: resident memory 200 MB (+0 per hour), heap 80 MB (+0 per hour), file descriptors 40 (+0 per hour), timers 20.5 (+0.5 per hour)',
    ])
  })
})
