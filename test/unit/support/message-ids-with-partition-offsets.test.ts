import { expect, it } from '@jest/globals'
import { idAt, offsetOf, partitionOf } from '../../support/process/message-ids-with-partition-offsets.ts'

it('a message id contains its partition', () => {
  expect([0, 12, 24].map(each => idAt(0, each / 12))).toEqual(['0-0', '0-12', '0-24'])
  for (const id of ['0-0', '11-11', '5-29', '11-1199'])
    expect([id, idAt(partitionOf(id), offsetOf(id))]).toEqual([id, id])
})
