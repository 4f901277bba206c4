import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface ImageContent {
  readonly name: string
  /**
   * Directory that becomes the root file system of the image. In the image, all files belong to
   * root.
   */
  readonly root: string
  /** Fields of the image configuration (OCI), for example `Entrypoint` and `User`. */
  readonly config: Readonly<Record<string, unknown>>
}

/** Writes an image with one layer, as `docker save` does. containerd imports it. */
export async function writeImageArchive(file: string, { name, root, config }: ImageContent): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'hookline-archive-'))
  try {
    const layer = join(directory, 'layer.tar')
    const owner = ['--owner=0', '--group=0', '--numeric-owner', '--sort=name', '--mtime=@0']
    await run('tar', ['--create', `--file=${layer}`, ...owner, `--directory=${root}`, '.'])
    const diff = `sha256:${await digestOf(layer)}`
    const image = { architecture: architecture(), os: 'linux', config, rootfs: { type: 'layers', diff_ids: [diff] } }
    await writeFile(join(directory, 'config.json'), JSON.stringify(image))
    const manifest = [{ Config: 'config.json', RepoTags: [name], Layers: ['layer.tar'] }]
    await writeFile(join(directory, 'manifest.json'), JSON.stringify(manifest))
    const entries = ['manifest.json', 'config.json', 'layer.tar']
    await run('tar', ['--create', `--file=${file}`, `--directory=${directory}`, ...entries])
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const architecture = (): string => (process.arch === 'x64' ? 'amd64' : process.arch)

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
