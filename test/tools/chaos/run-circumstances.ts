import { execFile } from 'node:child_process'
import { cpus, loadavg } from 'node:os'
import { promisify } from 'node:util'
import type { Circumstances } from './publication.ts'

const run = promisify(execFile)
/**
 * Paths that can affect the results. Only uncommitted changes in these paths mark the commit with
 * `+`.
 */
const code = [
  ...['src', 'packages', 'bin', 'deploy/tools/local', 'deploy/helm', 'deploy/image'],
  ...['test/tools/chaos', 'test/tools/cluster', 'test/support', 'package-lock.json'],
]

/** `root` is the checkout. */
export async function circumstances(root: string, patience: number): Promise<Circumstances> {
  const [load = 0] = loadavg()
  return {
    patience,
    date: new Date().toISOString().slice(0, 10),
    commit: await commitOf(root),
    machine: `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}, load ${load.toFixed(1)}`,
    node: `Node ${process.version}`,
  }
}

async function commitOf(root: string): Promise<string> {
  try {
    const git = async (...words: string[]) => (await run('git', ['-C', root, ...words])).stdout.trim()
    const changed = await git('status', '--porcelain', '--', ...code)
    return `${await git('rev-parse', '--short=8', 'HEAD')}${changed === '' ? '' : '+'}`
  } catch {
    // The tree is not a Git checkout.
    return 'unknown'
  }
}
