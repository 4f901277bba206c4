import { readFileSync } from 'node:fs'
import { matchesGlob, resolve } from 'node:path'
import { expect, it } from '@jest/globals'
import { chartFiles } from '../../../deploy/tools/chart/chart-files.ts'
import { dashboardFiles } from '../../../deploy/tools/dashboards/dashboard-files.ts'

const attributes = readFileSync(resolve(import.meta.dirname, '../../../.gitattributes'), 'utf8')
const marked = [...attributes.matchAll(/^\/(\S+) linguist-generated$/gm)].map(([, path]) => path ?? '')

it('.gitattributes marks every generated file of the chart', () => {
  const unmarked = [...chartFiles(), ...dashboardFiles()]
    .map(([path]) => path)
    .filter(path => !marked.some(pattern => matchesGlob(path, pattern)))
  expect(unmarked).toEqual([])
})
