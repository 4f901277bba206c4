import { expect, it } from '@jest/globals'
import { restOfAddress } from '../../../../packages/console/src/layout/console-path.ts'

it.each([
  ['/console/messages/m-1', 'm-1'],
  ['/console/messages/100%25%2Fa%3Fb%23c%20d', '100%/a?b#c d'],
  ['/console/messages/a/b', 'a/b'],
  ['/console/messages/100%', '100%'],
])('the id in %s', (pathname, id) => expect(restOfAddress(pathname, '/messages')).toBe(id))
