import { expect, it } from '@jest/globals'
import { tableOf } from '../../../src/app/terminal-table-and-progress-bar.ts'

it('a table may have more rows than a function call may have arguments', () => {
  const rows = Array.from({ length: 200_000 }, () => ['id', 'x'])
  const lines = tableOf(['A', 'B'], rows)
  expect([lines.length, lines[0], lines.at(-1)]).toEqual([200_001, 'A   B', 'id  x'])
})
