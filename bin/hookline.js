#!/usr/bin/env node
// Starts the CLI. A checkout runs the TypeScript sources directly. An installed package contains
// only the compiled files in dist.
import { existsSync } from 'node:fs'

const [major = 0] = process.versions.node.split('.').map(Number)
if (major < 24) {
  process.stderr.write(
    `hookline: needs Node 24 or newer, found ${process.versions.node}. In a checkout, use: npx hookline …\n`,
  )
  process.exit(2)
}

const source = new URL('../src/main.ts', import.meta.url)
await import(existsSync(source) ? source.href : new URL('../dist/src/main.js', import.meta.url).href)
