import { internal } from '../internals.ts'

interface Runner {
  readonly running: boolean
  fetch(nodeId: string): Promise<unknown>
}

/**
 * A consumer that is stopped while its fetchers are made anew, as after a change of leaders, leaves kafkajs with fetchers that nobody will stop.
 * Each is answered "nothing" at once and asks again at once: nothing else happens in the process any more, no timer, no signal. An error
 * ends them; what kafkajs would then try again it does not, for the consumer is stopped.
 */
export function cureStoppedFetch(): void {
  const { prototype } = internal<{ prototype: Runner }>('consumer/runner')
  const { fetch } = prototype
  prototype.fetch = async function (this: Runner, nodeId) {
    if (!this.running) throw new Error('the consumer is stopped')
    return fetch.call(this, nodeId)
  }
}
