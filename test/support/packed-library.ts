import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')

export interface Finished {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** A folder in which `hookline` is installed from its tarball, and nothing else is. */
export interface Consumer {
  /** What is in the tarball. */
  readonly files: readonly string[]
  write(file: string, text: string): Promise<void>
  /** Runs a file there; what does not end within 30 s is killed. */
  node(file: string, env?: Readonly<Record<string, string>>): Promise<Finished>
  /** Checks the types there. */
  typescript(...args: readonly string[]): Promise<Finished>
  close(): Promise<void>
}

/** Builds and packs the package as `npm publish` would. */
export async function installPacked(): Promise<Consumer> {
  const folder = await mkdtemp(join(tmpdir(), 'hookline-consumer-'))
  const { stdout } = await run('npm', ['pack', '--json', '--silent', '--pack-destination', folder], { cwd: root })
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }]
  const home = join(folder, 'node_modules/hookline')
  await mkdir(home, { recursive: true })
  await run('tar', ['-xzf', join(folder, packed.filename), '-C', home, '--strip-components=1'])

  async function finished(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Finished> {
    const ended = await run(process.execPath, args, {
      cwd: folder,
      env: { ...env, PATH: process.env['PATH'] },
      timeout: 30_000,
    }).then(
      output => ({ code: 0, ...output }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    )
    return { code: ended.code, stdout: ended.stdout, stderr: ended.stderr }
  }
  return {
    files: packed.files.map(({ path }) => path),
    write: (file, text) => writeFile(join(folder, file), text),
    node: (file, env) => finished([file], env),
    typescript: (...args) => finished([join(root, 'node_modules/typescript/bin/tsc'), ...args]),
    close: () => rm(folder, { recursive: true }),
  }
}
