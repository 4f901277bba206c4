#!/usr/bin/env node
// In a checkout the sources run directly (Node strips the types); an installed package holds only dist.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const [major = 0] = process.versions.node.split('.').map(Number)
if (major < 24) {
  process.stderr.write(
    `hookline: Node 24 or newer is needed, this is ${process.versions.node}. In a checkout: npx hookline …\n`,
  )
  process.exit(2)
}

// Left to itself, V8 lets the garbage of a busy service grow to several times what lives, and from a busy start on puts what lives for
// milliseconds among what is old. Measured in docs/decisions/0043 and 0018. These flags are read when a process starts, so that it begins
// again in its own place: same process id, no child. With undici src/adapters/heap.ts changes the second one later, and knows it by its value.
const heapFlags = ['--max-semi-space-size=16', '--heap-growing-percent=100', '--no-allocation-site-pretenuring']
// Set, they no longer grow by themselves: what was once freed of a larger size glibc would keep for good. Other libraries ignore them.
const freed = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '262144' }
const isChosen = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].some(given => given.includes('-semi-space-size'))
if (process.argv[2] === 'run' && !isChosen && process.execve !== undefined) {
  const program = [...heapFlags, ...process.execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)]
  process.execve(process.execPath, [process.execPath, ...program], { ...freed, ...process.env })
}
const source = new URL('../src/main.ts', import.meta.url)
await import(existsSync(source) ? source.href : new URL('../dist/src/main.js', import.meta.url).href)
