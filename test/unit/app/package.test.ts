import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type Consumer, installPacked } from '../../support/client/packed-library.ts'

/*
 * Tests of the npm package of the service, which is packed, unpacked to an empty folder, and run
 * there.
 */

const root = resolve(import.meta.dirname, '../../..')
let consumer: Consumer
beforeAll(async () => {
  consumer = await installPacked('hookline')
})
afterAll(() => consumer.close())

it('contains only the needed files', () => {
  const { files } = consumer.packed['hookline']!
  const needed = [
    'package.json',
    'README.md',
    'LICENSE',
    'CHANGELOG.md',
    'bin/hookline.js',
    'dist/src/main.js',
    'dist/console/index.html',
    'deploy/local/hookline.yaml',
    // The package needs all schemas: `schemas register` reads some of them, and programs of users
    // read the rest.
    ...readdirSync(join(root, 'schemas')).map(name => `schemas/${name}`),
  ]
  expect(files).toEqual(expect.arrayContaining(needed))
  const places =
    /^(bin|schemas)\/|^dist\/(src|console|packages\/client)\/|^deploy\/local\/hookline\.yaml$|^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/
  expect(files.filter(file => !places.test(file))).toEqual([])
})

it.each([
  ['its version', ['--version'], JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version],
  ['the help of a command of the client library', ['send', '--help'], 'Usage: hookline send'],
  [
    'the help of a command that reads the schemas',
    ['schemas', 'register', '--help'],
    'Usage: hookline schemas register',
  ],
])('runs and prints %s', async (_, words, first) => {
  const { code, stdout, stderr } = await consumer.node(['node_modules/hookline/bin/hookline.js', ...words])
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: expect.stringContaining(first), stderr: '' })
})
