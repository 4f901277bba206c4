#!/usr/bin/env node
// In a checkout the sources run directly (Node strips the types); an installed package holds only dist.
import { existsSync } from 'node:fs'

const [major = 0] = process.versions.node.split('.').map(Number)
if (major < 24) {
  process.stderr.write(
    `hookline: Node 24 or newer is needed, this is ${process.versions.node}. In a checkout: npx hookline …\n`,
  )
  process.exit(2)
}

const source = new URL('../src/main.ts', import.meta.url)
await import(existsSync(source) ? source.href : new URL('../dist/src/main.js', import.meta.url).href)
