import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../../..')

const folders = {
  hookline: '.',
  '@hookline/client': 'packages/client',
  '@hookline/client-kafka': 'packages/client-kafka',
}
export type PackageName = keyof typeof folders

export interface Finished {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface Packed {
  readonly tarball: string
  readonly files: readonly string[]
  readonly manifest: Manifest
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
}

/** A folder in which packages are installed from their tarballs. */
export interface Consumer {
  readonly folder: string
  readonly packed: Readonly<Record<string, Packed>>
  write(file: string, text: string): Promise<void>
  /** Runs a file in the folder. Kills the process after 150 seconds. */
  node(file: string | readonly string[], env?: Readonly<Record<string, string>>): Promise<Finished>
  typescript(...args: readonly string[]): Promise<Finished>
  close(): Promise<void>
}

/** What a package is made from. `extras` are packed without a build. */
const sources = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'src', 'packages', 'schemas', 'bin']
const extras = ['README.md', 'LICENSE', 'CHANGELOG.md', 'deploy/local/hookline.yaml']

/**
 * Builds and packs packages as `npm publish` does, and unpacks them into a new folder that has only
 * their declared dependencies.
 */
export async function installPacked(...names: readonly PackageName[]): Promise<Consumer> {
  const folder = await mkdtemp(join(tmpdir(), 'hookline-consumer-'))
  const copy = join(folder, 'packed')
  for (const name of [...sources, ...extras]) await cp(join(root, name), join(copy, name), { recursive: true })
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
  const packed: Record<string, Packed> = {}
  for (const name of names) packed[name] = await install(name, copy, folder)
  for (const { manifest } of Object.values(packed)) await linkDependencies(manifest, folder)

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
    folder,
    packed,
    write: (file, text) => writeFile(join(folder, file), text),
    node: (file, env) => finished([file].flat(), env),
    typescript: (...args) => finished([join(root, 'node_modules/typescript/bin/tsc'), ...args]),
    close: () => rm(folder, { recursive: true }),
  }
}

async function install(name: PackageName, copy: string, folder: string): Promise<Packed> {
  const cwd = join(copy, folders[name])
  const { stdout } = await run('npm', ['pack', '--json', '--silent'], { cwd })
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }]
  const tarball = join(cwd, packed.filename)
  const home = join(folder, 'node_modules', name)
  await mkdir(home, { recursive: true })
  await run('tar', ['-xzf', tarball, '-C', home, '--strip-components=1'])
  const manifest = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as Manifest
  return { tarball, files: packed.files.map(({ path }) => path), manifest }
}

async function linkDependencies({ dependencies = {} }: Manifest, folder: string): Promise<void> {
  for (const name of Object.keys(dependencies)) {
    const link = join(folder, 'node_modules', name)
    await mkdir(dirname(link), { recursive: true })
    await symlink(join(root, 'node_modules', name), link)
  }
}
