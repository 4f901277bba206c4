import { ofLogLines } from './colours.ts'
import { type Dashboard, installation } from './dashboard.ts'
import type { Row } from './panel.ts'
import { age, rateBy, series } from './queries.ts'

const chosen = 'instance=~"$instance"'
const rateOf = (name: string): string => `rate(${series(name, chosen)}[$__rate_interval])`

const load: Row = {
  title: 'Load',
  panels: [
    {
      title: 'CPU',
      description: 'Cores. A process uses one, and little more for its garbage collector.',
      unit: 'short',
      as: 'lines',
      width: 8,
      queries: [
        { expr: rateOf('process_cpu_user_seconds_total'), legend: '{{instance}} user' },
        { expr: rateOf('process_cpu_system_seconds_total'), legend: '{{instance}} system' },
      ],
      bad: { from: 1 },
    },
    {
      title: 'Event loop',
      description:
        'How late turns of the event loop come. Half a second for one in a hundred is too much; at six seconds partitions are lost.',
      unit: 's',
      as: 'lines',
      width: 8,
      queries: [
        { expr: series('nodejs_eventloop_lag_p50_seconds', chosen), legend: '{{instance}} p50' },
        { expr: series('nodejs_eventloop_lag_p99_seconds', chosen), legend: '{{instance}} p99' },
      ],
      bad: { from: 0.5 },
    },
    {
      title: 'Garbage collector',
      description: 'Share of the time in which it stood in the way. Above a tenth the heap is too small.',
      unit: 'percentunit',
      as: 'lines',
      width: 8,
      queries: [
        { expr: rateBy('instance, kind', 'nodejs_gc_duration_seconds_sum', chosen), legend: '{{instance}} {{kind}}' },
      ],
      bad: { from: 0.1 },
    },
    {
      title: 'Memory',
      description: 'What the container’s limit counts. It must level off.',
      unit: 'bytes',
      as: 'lines',
      width: 8,
      queries: [{ expr: series('process_resident_memory_bytes', chosen), legend: '{{instance}}' }],
    },
    {
      title: 'Heap',
      description: 'V8’s, and buffers outside it.',
      unit: 'bytes',
      as: 'lines',
      width: 8,
      queries: [
        { expr: series('nodejs_heap_size_used_bytes', chosen), legend: '{{instance}} used' },
        { expr: series('nodejs_heap_size_total_bytes', chosen), legend: '{{instance}} reserved' },
        { expr: series('nodejs_external_memory_bytes', chosen), legend: '{{instance}} buffers' },
      ],
    },
    {
      title: 'File descriptors',
      description: 'Share of those that may be open: connections to endpoints, to senders and to brokers.',
      unit: 'percentunit',
      as: 'lines',
      width: 8,
      most: 1,
      queries: [
        {
          expr: `${series('process_open_fds', chosen)} / ${series('process_max_fds', chosen)}`,
          legend: '{{instance}}',
        },
      ],
      bad: { from: 0.8 },
    },
  ],
}

const state: Row = {
  title: 'State',
  panels: [
    {
      title: 'Versions',
      description: 'What runs.',
      unit: 'none',
      as: 'table',
      width: 8,
      values: 'processes',
      queries: [{ expr: `count by (version, node) (${series('hookline_build_info', chosen)})`, legend: '' }],
    },
    {
      title: 'Checks',
      description: '1 while a check of /livez or /readyz holds, 0 while it does not: the lowest of the processes.',
      unit: 'short',
      as: 'lines',
      width: 16,
      most: 1,
      queries: [
        { expr: `min by (probe, check) (${series('hookline_check_ok', chosen)})`, legend: '{{probe}} {{check}}' },
      ],
    },
    {
      title: 'Running for',
      description: 'Since the process started. A saw-tooth is a crash loop.',
      unit: 's',
      as: 'lines',
      width: 6,
      queries: [
        {
          expr: `${age('process_start_time_seconds', chosen)} and on (job, instance) ${series('hookline_build_info', chosen)}`,
          legend: '{{instance}}',
        },
      ],
    },
    {
      title: 'Lines of the log',
      description: 'Warnings and errors.',
      unit: 'cps',
      as: 'lines',
      width: 6,
      colours: ofLogLines,
      queries: [{ expr: rateBy('level', 'hookline_log_lines_total', chosen), legend: '{{level}}' }],
    },
    {
      title: 'Handles',
      description: 'Sockets, timers and the like that are open. It must level off.',
      unit: 'short',
      as: 'lines',
      width: 6,
      queries: [{ expr: series('nodejs_active_handles_total', chosen), legend: '{{instance}}' }],
    },
    {
      title: 'Series',
      description:
        'With labels from the configuration. Beyond 8,000 destinations are counted as _other; how often that was is the second line.',
      unit: 'short',
      as: 'lines',
      width: 6,
      queries: [
        { expr: series('hookline_metrics_series', chosen), legend: '{{instance}}' },
        {
          expr: `increase(${series('hookline_metrics_series_folded_total', chosen)}[$__rate_interval])`,
          legend: '{{instance}} folded',
        },
      ],
      bad: { from: 8_000 },
    },
  ],
}

export const runtime: Dashboard = {
  uid: 'hookline-runtime',
  title: 'Hookline: runtime',
  description: 'The processes themselves: CPU, memory, event loop, checks.',
  variables: [...installation, { name: 'instance', label: 'Process', of: 'hookline_build_info' }],
  rows: [load, state],
}
