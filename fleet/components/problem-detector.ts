import type { MachineComponentSpec } from 'kubenode/constructs';
import {
  CHECK_CLOCK,
  CLOCK_PROGRAM,
  clockMonitor,
  kernelMonitor,
  kernelMonitorWindows,
  systemdMonitor,
  systemdMonitorWindows,
} from './problem-detector-files.ts';

const FOLDER = '/etc/kubenode/detector';

/**
 * What the problem detector of the agent watches: docs/guides/problem-detector.md. node-problem-detector reads the same files, but
 * not those that end in .kubenode.json.
 */
export const problemDetector: MachineComponentSpec = {
  component: 'problem-detector',
  version: '1.1.0',
  description:
    'Kernel hangs, read-only file systems, lack of memory, dropped packets, restarts of services and the clock as conditions of the Node',
  files: [
    configFile('kernel-monitor.json', kernelMonitor),
    configFile('kernel-monitor.kubenode.json', kernelMonitorWindows),
    configFile('systemd-monitor.json', systemdMonitor),
    configFile('systemd-monitor.kubenode.json', systemdMonitorWindows),
    configFile('clock-monitor.json', clockMonitor),
    { path: CLOCK_PROGRAM, content: CHECK_CLOCK, mode: '0755', onChange: 'None' },
  ],
  activation: { class: 'None' },
};

/** The agent notices a change by itself. */
function configFile(name: string, content: object): NonNullable<MachineComponentSpec['files']>[number] {
  return { path: `${FOLDER}/${name}`, content: `${JSON.stringify(content, null, 2)}\n`, onChange: 'None' };
}
