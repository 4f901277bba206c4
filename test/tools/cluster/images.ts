import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildImage } from '../../support/deploy/image/build.ts'
import { writeImageArchive } from './image-archive.ts'
import { emptyImage } from './kafka-pods.ts'
import type { Node } from './node.ts'
import { pauseImage } from './node-files.ts'

/** The repository of Hookline's image in the node. The tag is the version of the chart. */
export const hooklineRepository = 'hookline.test/hookline'

/**
 * Builds Hookline's image from deploy/image/Dockerfile, and imports it and the images that the
 * cluster needs. Pulls no image.
 */
export async function importImages(node: Node, pause: string, version: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'hookline-images-'))
  const put = async (content: Parameters<typeof writeImageArchive>[1]): Promise<void> => {
    const archive = join(directory, 'image.tar')
    await writeImageArchive(archive, content)
    await node.importImage(archive)
  }
  try {
    const root = join(directory, 'root')
    await mkdir(root)
    await writeFile(join(root, '.keep'), '')
    await put({ name: emptyImage, root, config: {} })
    await copyFile(pause, join(root, 'pause'))
    await put({ name: pauseImage, root, config: { Entrypoint: ['/pause'] } })
    const image = await buildImage({ VERSION: version })
    try {
      const { user, workdir, entrypoint, command, environment } = image
      const config = {
        User: user,
        WorkingDir: workdir,
        Entrypoint: entrypoint,
        Cmd: command,
        Env: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
      }
      await put({ name: `${hooklineRepository}:${version}`, root: image.root, config })
    } finally {
      await image.close()
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
