export type Tone = 'ok' | 'bad' | 'warn' | 'busy' | 'plain'

const tones: Readonly<Record<string, Tone>> = {
  enabled: 'ok',
  delivered: 'ok',
  done: 'ok',
  closed: 'ok',
  paused: 'warn',
  probing: 'warn',
  partial: 'warn',
  disabled: 'plain',
  dropped: 'plain',
  cancelled: 'plain',
  excluded: 'bad',
  open: 'bad',
  dead_lettered: 'bad',
  failed: 'bad',
  waiting: 'busy',
  running: 'busy',
}

/** The colour of a state. */
export const toneOf = (state: string): Tone => tones[state] ?? 'plain'

export const labelOf = (state: string): string =>
  state === 'dead_lettered' ? 'dead-lettered' : state.replaceAll('_', ' ')
