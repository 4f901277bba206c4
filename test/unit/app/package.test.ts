import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type Consumer, installPacked } from '../../support/client/packed-library.ts'

/* The service as others get it: packed, unpacked in an empty folder, run from there. */

const root = resolve(import.meta.dirname, '../../..')
let consumer: Consumer
beforeAll(async () => {
  consumer = await installPacked('hookline')
})
afterAll(() => consumer.close())

it('holds what is needed and no more', () => {
  const { files } = consumer.packed['hookline']!
  const needed = [
    'package.json',
    'README.md',
    'LICENSE',
    'CHANGELOG.md',
    'bin/hookline.js',
    'dist/src/main.js',
    'deploy/local/hookline.yaml',
    // What `schemas register` reads, and what other programs do.
    ...readdirSync(join(root, 'schemas')).map(name => `schemas/${name}`),
  ]
  expect(files).toEqual(expect.arrayContaining(needed))
  const places =
    /^(bin|schemas)\/|^dist\/(src|packages\/client)\/|^deploy\/local\/hookline\.yaml$|^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/
  expect(files.filter(file => !places.test(file))).toEqual([])
})

it.each([
  ['its version', ['--version'], JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version],
  ['a command of the client', ['send', '--help'], 'Usage: hookline send'],
  ['a command that reads its schemas', ['schemas', 'register', '--help'], 'Usage: hookline schemas register'],
])('runs: %s', async (_, words, first) => {
  const { code, stdout, stderr } = await consumer.node(['node_modules/hookline/bin/hookline.js', ...words])
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: expect.stringContaining(first), stderr: '' })
})
