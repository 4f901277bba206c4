import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')

export interface Finished {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** A folder in which `hookline` is installed from its tarball. */
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

/** What is built and packed, and what that needs. */
const sources = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'tsconfig.cjs.json', 'src', 'schemas', 'bin']
const extras = ['README.md', 'LICENSE', 'CHANGELOG.md', 'deploy/local/hookline.yaml']

/** Builds and packs the package as `npm publish` would, in a copy: other tests may do so too. Without its dependencies unless asked for. */
export async function installPacked({ withDependencies = false } = {}): Promise<Consumer> {
  const folder = await mkdtemp(join(tmpdir(), 'hookline-consumer-'))
  const copy = join(folder, 'packed')
  for (const name of [...sources, ...extras]) await cp(join(root, name), join(copy, name), { recursive: true })
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
  const { stdout } = await run('npm', ['pack', '--json', '--silent'], { cwd: copy })
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }]
  const home = join(folder, 'node_modules/hookline')
  await mkdir(home, { recursive: true })
  await run('tar', ['-xzf', join(copy, packed.filename), '-C', home, '--strip-components=1'])
  if (withDependencies) await linkDependencies(folder)

  async function finished(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Finished> {
    const ended = await run(process.execPath, args, {
      cwd: folder,
      env: { ...env, PATH: process.env['PATH'] },
      timeout: 150_000,
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

async function linkDependencies(folder: string): Promise<void> {
  const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { dependencies: object }
  for (const name of Object.keys(dependencies)) {
    const link = join(folder, 'node_modules', name)
    await mkdir(dirname(link), { recursive: true })
    await symlink(join(root, 'node_modules', name), link)
  }
}
