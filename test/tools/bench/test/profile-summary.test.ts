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
  it.each<[frame: CallFrame, label: string, itsPackage: string]>([
    [call('post', 'file:///x/node_modules/got/dist/index.js'), 'post got/dist/index.js:10', 'got'],
    [call('is', 'file:///x/node_modules/@sindre/is/dist/index.js'), 'is @sindre/is/dist/index.js:10', '@sindre/is'],
    [call('get', 'file:///x/node_modules/got/node_modules/keyv/index.js'), 'get keyv/index.js:10', 'keyv'],
    // The folder `src` of kafkajs is not the one of Hookline.
    [call('send', 'file:///x/node_modules/kafkajs/src/network/a.js'), 'send kafkajs/src/network/a.js:10', 'kafkajs'],
    [call('tick', 'node:_http_agent'), 'tick node:_http_agent:10', 'node:_http_agent'],
    [call('read', 'node:internal/streams/duplex'), 'read node:internal/streams/duplex:10', 'node:internal/streams'],
    [call('fetch', 'node:internal/deps/undici'), 'fetch node:internal/deps/undici:10', 'node:internal/deps'],
    [call('', 'file:///x/src/core/flow/lane.ts'), '(anonymous) src/core/flow/lane.ts:10', 'src/core/flow'],
    [call('run', 'file:///home/somebody/src/project/src/app/run.ts'), 'run src/app/run.ts:10', 'src/app'],
    [call('main', 'file:///home/somebody/loop.mjs'), 'main loop.mjs:10', 'loop.mjs'],
    [call('wasm-function[7]', 'wasm://wasm/00ad0bc6'), 'wasm-function[7] wasm:10', 'wasm'],
    [call('writev'), 'writev', ''],
    [{ functionName: 'wasm-to-js', url: '', lineNumber: 0 }, 'wasm-to-js', ''],
    [{ functionName: 'readEvent', url: '', lineNumber: 2 }, 'readEvent (made at run time)', ''],
    [call('(garbage collector)'), '(garbage collector)', ''],
  ])('of %j', (frame, label, itsPackage) => expect([labelOf(frame), packageOf(frame.url)]).toEqual([label, itsPackage]))
})
