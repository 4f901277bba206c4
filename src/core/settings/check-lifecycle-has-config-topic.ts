import type { Rule } from './configuration-rule.ts'

const needsTopic = 'needs the config topic, which exists only with operator.encryptionKeyFile'
const hint = 'set operator.encryptionKeyFile, and create the config topic with `hookline topics apply`'

/**
 * `lifecycle.disableAfter` and `lifecycle.onGone: disable` need the config topic, which exists only
 * with `operator.encryptionKeyFile`. The topic stores which destinations are disabled; without the
 * topic, a restart would enable them again.
 */
export const lifecycleHasTopic: Rule = ({ destinations, operator }) => {
  if (operator?.encryptionKeyFile !== undefined) return []
  return (destinations ?? []).flatMap((destination, index) => {
    const { disableAfter, onGone } = destination?.lifecycle ?? {}
    const path = (key: string) => ['destinations', index, 'lifecycle', key]
    return [
      ...(disableAfter === undefined ? [] : [{ path: path('disableAfter'), message: needsTopic, hint }]),
      ...(onGone === 'disable' ? [{ path: path('onGone'), message: `"disable" ${needsTopic}`, hint }] : []),
    ]
  })
}
