import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { type CallFrame, type CpuProfile, labelOf, packageOf } from '../../bench/cpu-profile.ts'
import { profileOf, summarise } from '../../bench/profile.ts'
import { type Frame, type Kind, kindOf, mergedStacks } from '../../bench/stacks.ts'

const always = { from: 0, to: Number.POSITIVE_INFINITY }
const call = (functionName: string, url = ''): CallFrame => ({ functionName, url, lineNumber: url === '' ? -1 : 9 })

describe('the sums of a profile', () => {
  const profile: CpuProfile = {
    nodes: [
      { id: 1, callFrame: call('post', 'file:///x/node_modules/got/dist/index.js') },
      { id: 2, callFrame: call('', 'file:///x/src/core/delivery/lane.ts') },
      { id: 3, callFrame: call('(idle)') },
      { id: 4, callFrame: call('(garbage collector)') },
    ],
    startTime: 1_000_000,
    // At 1,000,100, 1,000,200, … microseconds.
    samples: [4, 1, 1, 2, 3, 1],
    timeDeltas: [100, 100, 100, 100, 100, 100],
  }

  it('count self time within the window, without what was idle, most first', () => {
    expect(summarise(profile, { from: 1_000_200, to: 1_000_550 })).toEqual({
      busyMs: expect.closeTo(0.3),
      packages: [
        { name: 'got', ms: 0.2, share: expect.closeTo(2 / 3) },
        { name: 'src/core/delivery', ms: 0.1, share: expect.closeTo(1 / 3) },
      ],
      functions: [
        { name: 'post got/dist/index.js:10', ms: 0.2, share: expect.closeTo(2 / 3) },
        { name: '(anonymous) src/core/delivery/lane.ts:10', ms: 0.1, share: expect.closeTo(1 / 3) },
      ],
    })
  })

  it('of all time have the collector as a package of its own', () => {
    const { packages } = summarise(profile, always)
    expect(new Map(packages.map(({ name, ms }) => [name, ms]))).toEqual(
      new Map([
        ['got', 0.2],
        ['src/core/delivery', 0.1],
        ['(garbage collector)', 0.1],
      ]),
    )
  })
})

describe('what a run is shown with', () => {
  const run = { window: always }

  it('is read from the file that V8 has written', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'hookline-profile-'))
    const profile = join(directory, 'forwarder.cpuprofile')
    const nodes = [
      { id: 1, callFrame: call('(root)'), children: [2] },
      { id: 2, callFrame: call('post', 'file:///x/src/core/lane.ts') },
    ]
    try {
      await writeFile(profile, JSON.stringify({ nodes, startTime: 0, samples: [2, 2], timeDeltas: [0, 7_000] }))
      expect(await profileOf('hookline got, 20 ms', { ...run, profile })).toEqual([
        {
          title: 'hookline got, 20 ms',
          lines: [
            '  7 ms of CPU in the steady part, self time by package:',
            '100.0 %       7 ms  src/core',
            '  by function:',
            '100.0 %       7 ms  post src/core/lane.ts:10',
          ],
          stacks: [{ label: 'post src/core/lane.ts:10', kind: 'own', selfUs: 7_000, totalUs: 7_000, called: [] }],
        },
      ])
    } finally {
      await rm(directory, { recursive: true })
    }
  })

  it('is nothing when no profile was asked for', async () =>
    expect(await profileOf('hookline got', { ...run, profile: undefined })).toEqual([]))
})

describe('a function', () => {
  it.each<[string, CallFrame, { readonly label: string; readonly package: string; readonly kind: Kind }]>([
    [
      'of a package',
      call('post', 'file:///x/node_modules/got/dist/index.js'),
      { label: 'post got/dist/index.js:10', package: 'got', kind: 'http' },
    ],
    [
      'of a package with a scope',
      call('is', 'file:///x/node_modules/@sindresorhus/is/dist/index.js'),
      { label: 'is @sindresorhus/is/dist/index.js:10', package: '@sindresorhus/is', kind: 'packages' },
    ],
    [
      'of a package within another one',
      call('get', 'file:///x/node_modules/got/node_modules/keyv/index.js'),
      { label: 'get keyv/index.js:10', package: 'keyv', kind: 'packages' },
    ],
    [
      'of kafkajs, which has sources, too',
      call('send', 'file:///x/node_modules/kafkajs/src/network/connection.js'),
      { label: 'send kafkajs/src/network/connection.js:10', package: 'kafkajs', kind: 'kafka' },
    ],
    [
      'of Node',
      call('tick', 'node:_http_agent'),
      { label: 'tick node:_http_agent:10', package: 'node:_http_agent', kind: 'node' },
    ],
    [
      'of Node, inside',
      call('read', 'node:internal/streams/readable'),
      { label: 'read node:internal/streams/readable:10', package: 'node:internal/streams', kind: 'node' },
    ],
    [
      "of the client that Node has, which is Node's",
      call('fetch', 'node:internal/deps/undici/undici'),
      { label: 'fetch node:internal/deps/undici/undici:10', package: 'node:internal/deps', kind: 'node' },
    ],
    [
      'of this project, without a name',
      call('', 'file:///x/src/services/dispatcher/lanes.ts'),
      {
        label: '(anonymous) src/services/dispatcher/lanes.ts:10',
        package: 'src/services/dispatcher',
        kind: 'own',
      },
    ],
    [
      'of this project, checked out below a folder src',
      call('run', 'file:///home/somebody/src/project/src/app/run.ts'),
      { label: 'run src/app/run.ts:10', package: 'src/app', kind: 'own' },
    ],
    [
      'of a program elsewhere: the place on this machine is not told',
      call('main', 'file:///home/somebody/loop.mjs'),
      { label: 'main loop.mjs:10', package: 'loop.mjs', kind: 'own' },
    ],
    [
      'of WebAssembly',
      call('wasm-function[7]', 'wasm://wasm/00ad0bc6'),
      { label: 'wasm-function[7] wasm:10', package: 'wasm', kind: 'native' },
    ],
    ['of V8', call('writev'), { label: 'writev', package: '', kind: 'native' }],
    [
      'that leads out of WebAssembly',
      { functionName: 'wasm-to-js', url: '', lineNumber: 0 },
      { label: 'wasm-to-js', package: '', kind: 'native' },
    ],
    [
      'that a package put together at run time',
      { functionName: 'readEvent', url: '', lineNumber: 2 },
      { label: 'readEvent (made at run time)', package: '', kind: 'packages' },
    ],
    [
      '(garbage collector)',
      call('(garbage collector)'),
      { label: '(garbage collector)', package: '', kind: 'garbage' },
    ],
    ['(program): the event loop, the kernel', call('(program)'), { label: '(program)', package: '', kind: 'native' }],
  ])('%s', (_, frame, expected) =>
    expect({ label: labelOf(frame), package: packageOf(frame.url), kind: kindOf(frame) }).toEqual(expected),
  )
})

describe('stacks', () => {
  /** `1.5 4 own post src/a.ts:10`: itself and in all, ms; as far to the right as it was called deep. */
  const drawn = (frames: readonly Frame[], indent = ''): readonly string[] =>
    frames.flatMap(({ label, kind, selfUs, totalUs, called }) => [
      `${indent}${selfUs / 1_000} ${totalUs / 1_000} ${kind} ${label}`,
      ...drawn(called, `${indent}  `),
    ])
  const lane = 'file:///x/src/lane.ts'
  const profile: CpuProfile = {
    nodes: [
      { id: 1, callFrame: call('(root)'), children: [2, 3, 9, 10, 11] },
      { id: 2, callFrame: call('tick', 'node:timers'), children: [4, 5] },
      // V8 tells apart what was compiled anew.
      { id: 3, callFrame: call('tick', 'node:timers'), children: [6, 8] },
      { id: 4, callFrame: call('post', lane), children: [7] },
      { id: 5, callFrame: call('send', 'file:///x/node_modules/kafkajs/src/a.js') },
      { id: 6, callFrame: call('post', lane) },
      { id: 7, callFrame: call('writev') },
      { id: 8, callFrame: call('never seen', lane) },
      { id: 9, callFrame: call('(idle)') },
      { id: 10, callFrame: call('(garbage collector)') },
      { id: 11, callFrame: call('post', lane) },
    ],
    startTime: 0,
    // At 1,000, 2,000, … microseconds.
    samples: [2, 4, 7, 7, 9, 9, 6, 5, 10, 11, 9],
    timeDeltas: Array.from({ length: 11 }, () => 1_000),
  }

  it.each<[string, { readonly from: number; readonly to: number }, readonly string[]]>([
    [
      'that begin alike share their beginning, whatever is idle or was not seen is not there, most comes first',
      always,
      [
        '1 6 node tick node:timers:10',
        '  2 4 own post src/lane.ts:10',
        '    2 2 native writev',
        '  1 1 kafka send kafkajs/src/a.js:10',
        '1 1 garbage (garbage collector)',
        '1 1 own post src/lane.ts:10',
      ],
    ],
    [
      'of a window have its time alone, also where the caller itself was not seen',
      { from: 3_000, to: 5_000 },
      ['0 2 node tick node:timers:10', '  0 2 own post src/lane.ts:10', '    2 2 native writev'],
    ],
    ['of a window in which nothing ran: none', { from: 5_000, to: 7_000 }, []],
  ])('%s', (_, window, expected) => expect(drawn(mergedStacks(profile, window))).toEqual(expected))
})
