/** Configures what the agent of each machine looks for in /var/log/kernel.log, which represents the log of a kernel of its own. */
import type { MachineComponentSpec } from 'kubenode/constructs';

const monitor = {
  plugin: 'filelog',
  pluginConfig: { timestamp: '^\\S+', message: ' (.*)', timestampFormat: '2006-01-02T15:04:05Z07:00' },
  logPath: '/var/log/kernel.log',
  lookback: '5m',
  source: 'kernel-monitor',
  conditions: [{ type: 'FrequentTaskHung', reason: 'NoFrequentTaskHung', message: 'no task is hung' }],
  rules: [
    {
      type: 'permanent',
      condition: 'FrequentTaskHung',
      reason: 'TaskHung',
      pattern: 'task .+:\\d+ blocked for more than \\d+ seconds\\.',
    },
  ],
};

/** One hung task may recover. Three lines within five minutes are a kernel that hangs. */
const windows = {
  source: 'kernel-monitor',
  rules: [{ reason: 'TaskHung', count: 3, windowSeconds: 300 }],
};

export const problemDetector: MachineComponentSpec = {
  component: 'problem-detector',
  version: '1.0.0',
  description: 'A kernel that hangs as a condition of the Node',
  files: [
    configFile('kernel-monitor.json', monitor),
    configFile('kernel-monitor.kubenode.json', windows),
    // Only created: lines that are appended stay.
    { path: monitor.logPath, content: '', drift: 'Ignore', onChange: 'None' },
  ],
  activation: { class: 'None' },
  // Shortened for a demonstration.
  commitAfterSeconds: 3,
};

/** Returns a file of the configuration. The agent notices a change without a restart. */
function configFile(name: string, content: object): NonNullable<MachineComponentSpec['files']>[number] {
  const path = `/etc/kubenode/detector/${name}`;
  return { path, content: `${JSON.stringify(content, undefined, 2)}\n`, onChange: 'None' };
}
