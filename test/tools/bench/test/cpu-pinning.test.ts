import { expect, it } from '@jest/globals'
import { coresOf } from '../cpu-pinning.ts'

it.each([
  ['0,1', [0, 1]],
  [' 0-3\n', [0, 1, 2, 3]],
  ['2,4-6', [2, 4, 5, 6]],
  ['7', [7]],
])('cores of %j', (list, cores) => expect(coresOf(list)).toEqual(cores))
