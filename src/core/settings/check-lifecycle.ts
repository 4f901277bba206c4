import type { Rule } from './rule.ts'

const hint =
  'set operator.encryptionKeyFile, which creates the config topic: the state of a destination that Hookline disables is stored there'

/**
 * Checks that there is a config topic for destinations that Hookline may disable: without it, a
 * restart would enable them again.
 */
export const lifecycleHasTopic: Rule = ({ destinations, operator }) => {
  if (operator?.encryptionKeyFile !== undefined) return []
  return (destinations ?? []).flatMap((destination, index) => {
    const { disableAfter, onGone } = destination?.lifecycle ?? {}
    const path = (key: string) => ['destinations', index, 'lifecycle', key]
    return [
      ...(disableAfter === undefined ? [] : [{ path: path('disableAfter'), message: 'needs the config topic', hint }]),
      ...(onGone === 'disable' ? [{ path: path('onGone'), message: 'disable needs the config topic', hint }] : []),
    ]
  })
}
