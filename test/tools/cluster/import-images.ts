import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildImage } from '../../support/deploy/image/build-image.ts'
import { type ImageContent, writeImageArchive } from './image-archive.ts'
import { emptyImage } from './kafka-pods.ts'
import type { Node } from './node.ts'
import { pauseImage } from './node-addresses-and-files.ts'

/** The repository of Hookline's image in the node. The tag is the version of the chart. */
export const hooklineRepository = 'hookline.test/hookline'

/** Creates the images on this machine and imports them into the node, without a registry. */
export async function importImages(node: Node, pause: string, version: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'hookline-images-'))
  try {
    const root = join(directory, 'root')
    await mkdir(root)
    await writeFile(join(root, '.keep'), '')
    await put(node, { name: emptyImage, root, config: {} })
    await copyFile(pause, join(root, 'pause'))
    await put(node, { name: pauseImage, root, config: { Entrypoint: ['/pause'] } })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
  await importHookline(node, version)
}

/** Builds Hookline's image from a checkout, by default this repository, and imports it. */
export async function importHookline(node: Node, version: string, checkout?: string): Promise<void> {
  const image = await buildImage({ VERSION: version }, checkout)
  try {
    const { user, workdir, entrypoint, command, environment } = image
    const config = {
      User: user,
      WorkingDir: workdir,
      Entrypoint: entrypoint,
      Cmd: command,
      Env: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
    }
    await put(node, { name: `${hooklineRepository}:${version}`, root: image.root, config })
  } finally {
    await image.close()
  }
}

async function put(node: Node, content: ImageContent): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'hookline-images-'))
  try {
    const archive = join(directory, 'image.tar')
    await writeImageArchive(archive, content)
    await node.importImage(archive)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
