import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from '@jest/globals'
import { writeImageArchive } from '../image-archive.ts'

const directories: string[] = []
afterEach(async () => {
  for (const path of directories.splice(0)) await rm(path, { recursive: true })
})

it('writes an archive whose configuration names the digest of its only layer, with files of root', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'hookline-test-'))
  directories.push(directory)
  const root = join(directory, 'root')
  await mkdir(join(root, 'app'), { recursive: true })
  await writeFile(join(root, 'app/program'), 'x', { mode: 0o755 })
  const file = join(directory, 'image.tar')
  await writeImageArchive(file, { name: 'example.test/app:1', root, config: { User: '65532:65532' } })

  const entry = (name: string): Buffer => execFileSync('tar', ['--extract', '--to-stdout', '--file', file, name])
  const layer = entry('layer.tar')
  const [manifest] = JSON.parse(entry('manifest.json').toString())
  expect(manifest).toEqual({ Config: 'config.json', RepoTags: ['example.test/app:1'], Layers: ['layer.tar'] })
  expect(JSON.parse(entry('config.json').toString())).toMatchObject({
    os: 'linux',
    config: { User: '65532:65532' },
    rootfs: { type: 'layers', diff_ids: [`sha256:${createHash('sha256').update(layer).digest('hex')}`] },
  })
  const listed = execFileSync('tar', ['--list', '--verbose', '--numeric-owner'], { input: layer, encoding: 'utf8' })
  expect(listed).toMatch(/^-rwxr-xr-x 0\/0 .* \.\/app\/program$/m)
})
