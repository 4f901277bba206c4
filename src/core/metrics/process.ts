import { counter } from './spec.ts'

/** The process itself. */
export const processMetrics = {
  configReloads: counter('hookline_config_reloads_total', 'Changed configurations, by what became of them.', {
    unit: 'changes',
    use: 'dashboard',
    labels: { result: ['applied', 'refused'] },
  }),
} as const
