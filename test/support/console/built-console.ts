import { execFile } from 'node:child_process'
import { readdir, readFile, stat } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { extname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { withLock } from '../../../deploy/tools/local/file-lock.ts'
import { consoleHeaders } from '../../../src/adapters/http/console-routes.ts'

const root = resolve(import.meta.dirname, '../../..')
export const builtConsole = join(root, 'dist/console')

/**
 * Builds the console if it is outdated. The lock lets only one of several concurrent test files
 * build it.
 */
export async function buildConsole(): Promise<void> {
  await withLock(join(root, 'node_modules/.console.lock'), async () => {
    if (await isCurrent()) return
    await promisify(execFile)(process.execPath, [join(root, 'packages/console/build.ts')])
  })
}

async function isCurrent(): Promise<boolean> {
  const builtAt = await stat(join(builtConsole, 'index.html')).catch(() => undefined)
  if (builtAt === undefined) return false
  const sources = join(root, 'packages/console/src')
  const files = await readdir(sources, { recursive: true })
  const times = await Promise.all(files.map(async name => (await stat(join(sources, name))).mtimeMs))
  return Math.max(...times) < builtAt.mtimeMs
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

/** Responds with an asset of the console, or with its HTML page for any other path. */
export function consoleFile(path: string, response: ServerResponse): void {
  const name = path.startsWith('/console/assets/') ? path.slice('/console/'.length) : 'index.html'
  readFile(join(builtConsole, name)).then(
    content => {
      response.writeHead(200, { ...consoleHeaders, 'content-type': types[extname(name)] ?? 'text/plain' })
      response.end(content)
    },
    () => {
      response.writeHead(404)
      response.end()
    },
  )
}
