import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { type CallFrame, type CpuProfile, labelOf, packageOf } from '../profile-self-times.ts'
import { profileOf, summarise } from '../profile-summary.ts'

const always = { from: 0, to: Number.POSITIVE_INFINITY }
const call = (functionName: string, url = ''): CallFrame => ({ functionName, url, lineNumber: url === '' ? -1 : 9 })

describe('the summary of a CPU profile', () => {
  const profile: CpuProfile = {
    nodes: [
      { id: 1, callFrame: call('post', 'file:///x/node_modules/got/dist/index.js') },
      { id: 2, callFrame: call('', 'file:///x/src/core/delivery/lane.ts') },
      { id: 3, callFrame: call('(idle)') },
      { id: 4, callFrame: call('(garbage collector)') },
    ],
    startTime: 1_000_000,
    // Samples at 1,000,100, 1,000,200, … microseconds.
    samples: [4, 1, 1, 2, 3, 1],
    timeDeltas: [100, 100, 100, 100, 100, 100],
  }

  it('sums self time within the window without idle time, largest first', () => {
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

  it('counts the garbage collector as a package', () => {
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

describe('the CPU profile of a run', () => {
  const run = { window: always }

  it('is read from the file that V8 wrote', async () => {
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
          file: profile,
        },
      ])
    } finally {
      await rm(directory, { recursive: true })
    }
  })

  it('is absent when the run was not profiled', async () =>
    expect(await profileOf('hookline got', { ...run, profile: undefined })).toEqual([]))
})

describe('the label and the package of a profiled function', () => {
  it.each<[string, CallFrame, { readonly label: string; readonly package: string }]>([
    [
      'of a package',
      call('post', 'file:///x/node_modules/got/dist/index.js'),
      { label: 'post got/dist/index.js:10', package: 'got' },
    ],
    [
      'of a package with a scope',
      call('is', 'file:///x/node_modules/@sindresorhus/is/dist/index.js'),
      { label: 'is @sindresorhus/is/dist/index.js:10', package: '@sindresorhus/is' },
    ],
    [
      'of a package within another one',
      call('get', 'file:///x/node_modules/got/node_modules/keyv/index.js'),
      { label: 'get keyv/index.js:10', package: 'keyv' },
    ],
    [
      'of kafkajs, which has a src folder',
      call('send', 'file:///x/node_modules/kafkajs/src/network/connection.js'),
      { label: 'send kafkajs/src/network/connection.js:10', package: 'kafkajs' },
    ],
    ['of Node', call('tick', 'node:_http_agent'), { label: 'tick node:_http_agent:10', package: 'node:_http_agent' }],
    [
      'of an internal module of Node',
      call('read', 'node:internal/streams/readable'),
      { label: 'read node:internal/streams/readable:10', package: 'node:internal/streams' },
    ],
    [
      "of the client that Node has, which is Node's",
      call('fetch', 'node:internal/deps/undici/undici'),
      { label: 'fetch node:internal/deps/undici/undici:10', package: 'node:internal/deps' },
    ],
    [
      'of this project, without a name',
      call('', 'file:///x/src/services/dispatcher/lanes.ts'),
      {
        label: '(anonymous) src/services/dispatcher/lanes.ts:10',
        package: 'src/services/dispatcher',
      },
    ],
    [
      'of this project, below a folder src',
      call('run', 'file:///home/somebody/src/project/src/app/run.ts'),
      { label: 'run src/app/run.ts:10', package: 'src/app' },
    ],
    [
      'of a program elsewhere, without its directory',
      call('main', 'file:///home/somebody/loop.mjs'),
      { label: 'main loop.mjs:10', package: 'loop.mjs' },
    ],
    [
      'of WebAssembly',
      call('wasm-function[7]', 'wasm://wasm/00ad0bc6'),
      { label: 'wasm-function[7] wasm:10', package: 'wasm' },
    ],
    ['of V8', call('writev'), { label: 'writev', package: '' }],
    [
      'of an exit of WebAssembly',
      { functionName: 'wasm-to-js', url: '', lineNumber: 0 },
      { label: 'wasm-to-js', package: '' },
    ],
    [
      'of code generated at run time',
      { functionName: 'readEvent', url: '', lineNumber: 2 },
      { label: 'readEvent (made at run time)', package: '' },
    ],
    ['(garbage collector)', call('(garbage collector)'), { label: '(garbage collector)', package: '' }],
    ['(program): the event loop, the kernel', call('(program)'), { label: '(program)', package: '' }],
  ])('%s', (_, frame, expected) => expect({ label: labelOf(frame), package: packageOf(frame.url) }).toEqual(expected))
})
