/** Files of the problem detector for tests, in the format of node-problem-detector. */

type JsonObject = Readonly<Record<string, unknown>>;

export const DEADLOCK = {
  type: 'KernelDeadlock',
  reason: 'KernelHasNoDeadlock',
  message: 'kernel has no deadlock',
};
export const READ_ONLY = {
  type: 'ReadonlyFilesystem',
  reason: 'FilesystemIsNotReadOnly',
  message: 'not read-only',
};

const HUNG_PATTERN = 'task [\\S ]+:\\w+ blocked for more than \\w+ seconds\\.';

export const kernelMonitor: JsonObject = {
  plugin: 'kmsg',
  logPath: '/dev/kmsg',
  lookback: '5m',
  bufferSize: 10,
  source: 'kernel-monitor',
  metricsReporting: true,
  conditions: [DEADLOCK, READ_ONLY],
  rules: [
    { type: 'temporary', reason: 'TaskHung', pattern: HUNG_PATTERN },
    { type: 'temporary', reason: 'OOMKilling', pattern: 'Killed process \\d+ (.+) total-vm:\\d+kB.*' },
    {
      type: 'permanent',
      condition: 'KernelDeadlock',
      reason: 'DockerHung',
      pattern: 'task docker:\\w+ blocked for more than \\w+ seconds\\.',
    },
    {
      type: 'permanent',
      condition: 'ReadonlyFilesystem',
      reason: 'FilesystemIsReadOnly',
      pattern: 'Remounting filesystem read-only',
    },
    { type: 'temporary', reason: 'KernelOops', pattern: 'BUG: (?s:.*)\\nCall Trace:' },
  ],
};

export const fileMonitor: JsonObject = {
  plugin: 'filelog',
  pluginConfig: {
    timestamp: '^.{15}',
    message: 'kernel: \\[.*\\] (.*)',
    timestampFormat: 'Jan _2 15:04:05',
  },
  logPath: '/var/log/kern.log',
  source: 'file-monitor',
  conditions: [{ type: 'FileProblem', reason: 'NoFileProblem', message: 'no problem in the file' }],
  rules: [{ type: 'permanent', condition: 'FileProblem', reason: 'BadLine', pattern: 'bad line \\d+' }],
};

export const journalMonitor: JsonObject = {
  plugin: 'journald',
  pluginConfig: { source: 'kernel' },
  logPath: '/var/log/journal',
  source: 'hung-task-monitor',
  conditions: [{ type: 'FrequentTaskHung', reason: 'NoFrequentTaskHung', message: 'no task is hung' }],
  rules: [{ type: 'permanent', condition: 'FrequentTaskHung', reason: 'TaskHung', pattern: HUNG_PATTERN }],
};

export const pluginMonitor: JsonObject = {
  plugin: 'custom',
  pluginConfig: { invoke_interval: '30s', timeout: '20s', max_output_length: 80, concurrency: 2 },
  source: 'ntp-monitor',
  conditions: [{ type: 'NTPProblem', reason: 'NTPIsUp', message: 'ntp service is up' }],
  rules: [
    {
      type: 'permanent',
      condition: 'NTPProblem',
      reason: 'NTPIsDown',
      path: '/opt/check-ntp',
      timeout: '3s',
    },
    { type: 'temporary', reason: 'NTPIsSlow', path: '/opt/check-ntp', args: ['--slow'] },
  ],
};

export function configFile(
  name: string,
  value: JsonObject,
): { readonly name: string; readonly content: string } {
  return { name, content: JSON.stringify(value) };
}
