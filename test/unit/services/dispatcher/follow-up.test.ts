import { describe, expect, it } from '@jest/globals'
import { DispatcherHarness, ok } from '../../../support/dispatcher-harness.ts'
import { trackMessage } from '../../../support/messages.ts'
import { ScriptedProducer } from '../../../support/scripted-producer.ts'

/** A dispatcher with so many places at one webhook, all taken, and as much again that waits; what it does from then on, in order. */
async function busy(places: number): Promise<{ harness: DispatcherHarness; steps: ('ended' | 'posted')[] }> {
  const steps: ('ended' | 'posted')[] = []
  const producer = new ScriptedProducer()
  const append = producer.append.bind(producer)
  const harness = await DispatcherHarness.started({
    delivery: { maxInFlight: 10 * places, perWebhook: places, perHost: places },
    attemptProducer: Object.assign(producer, {
      append: (...given: Parameters<typeof append>) => {
        steps.push('ended')
        append(...given)
      },
    }),
    answer: () => {
      steps.push('posted')
      return ok
    },
  })
  for (let index = 0; index < 2 * places; index++)
    harness.write({ message: trackMessage(`m${index}`, { userId: `u${index}` }) })
  await harness.advance(1)
  return { harness, steps }
}

const runs = (steps: readonly string[]): readonly string[] =>
  steps
    .join(' ')
    .match(/(\w+)( \1\b)*/g)
    ?.map(run => `${run.split(' ').length} ${run.split(' ')[0]}`) ?? []

describe('what has ended in one turn of the event loop', () => {
  it('is followed together, once all answers that are there were read', async () => {
    const { harness, steps } = await busy(50)
    expect(runs(steps)).toEqual(['50 posted', '50 ended', '50 posted', '50 ended'])
    expect(harness.count('deliveries{crm,delivered}')).toBe(100)
  })

  it('is followed in parts when it is much: a wave of thousands would be all the memory that there is', async () => {
    const { harness, steps } = await busy(150)
    const [first, ...later] = runs(steps)
    expect(first).toBe('150 posted')
    expect(later.slice(0, 4)).toEqual(['64 ended', '64 posted', '64 ended', '64 posted'])
    expect(harness.count('deliveries{crm,delivered}')).toBe(300)
  })
})
