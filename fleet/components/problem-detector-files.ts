/** Files of the problem detector. The patterns are regular expressions of Go, and match to the end of a line. */

/** Lines of the kernel in the journal. */
export const kernelMonitor = {
  plugin: 'journald',
  pluginConfig: { source: 'kernel' },
  lookback: '5m',
  bufferSize: 10,
  source: 'kernel-monitor',
  metricsReporting: true,
  conditions: [
    { type: 'FrequentTaskHung', reason: 'NoFrequentTaskHung', message: 'no task is hung' },
    {
      type: 'ReadonlyFilesystem',
      reason: 'FilesystemIsNotReadOnly',
      message: 'no file system became read-only',
    },
  ],
  rules: [
    permanent('FrequentTaskHung', 'TaskHung', 'task .+:\\d+ blocked for more than \\d+ seconds\\.'),
    permanent('ReadonlyFilesystem', 'FilesystemIsReadOnly', '[Rr]emounting filesystem read-only'),
    permanent('ReadonlyFilesystem', 'FilesystemIsReadOnly', 'BTRFS.*: forced readonly'),
    permanent('ReadonlyFilesystem', 'FilesystemIsShutDown', 'XFS.*[Ss]hutting down filesystem\\.?'),
    temporary(
      'OOMKilling',
      'Killed process \\d+ \\(.+\\) total-vm:\\d+kB, anon-rss:\\d+kB, file-rss:\\d+kB.*',
    ),
    temporary('KernelOops', 'BUG: (?:unable to handle|kernel NULL pointer).*'),
    temporary('SoftLockup', 'watchdog: BUG: soft lockup - CPU#\\d+ stuck for \\d+s! .*'),
    temporary('IOError', 'Buffer I/O error on .*'),
    temporary('IOError', 'I/O error, dev .*'),
    temporary('Ext4Error', 'EXT4-fs error .*'),
  ],
};

/** One hung task may recover. Three lines within five minutes are a kernel that hangs. */
export const kernelMonitorWindows = {
  source: 'kernel-monitor',
  rules: [{ reason: 'TaskHung', count: 3, windowSeconds: 300 }],
};

/** What systemd logs when it starts a service again that ended by itself. */
export const systemdMonitor = {
  plugin: 'journald',
  pluginConfig: { source: 'systemd' },
  lookback: '20m',
  bufferSize: 10,
  source: 'systemd-monitor',
  metricsReporting: true,
  conditions: [
    {
      type: 'FrequentKubeletRestart',
      reason: 'NoFrequentKubeletRestart',
      message: 'the kubelet does not end by itself',
    },
    {
      type: 'FrequentContainerRuntimeRestart',
      reason: 'NoFrequentContainerRuntimeRestart',
      message: 'the container runtime does not end by itself',
    },
  ],
  rules: [
    permanent('FrequentKubeletRestart', 'KubeletRestarts', restartOf('kubelet')),
    permanent(
      'FrequentContainerRuntimeRestart',
      'ContainerRuntimeRestarts',
      restartOf('(?:containerd|crio|docker)'),
    ),
    temporary('KubeletFailed', failureOf('kubelet')),
    temporary('ContainerRuntimeFailed', failureOf('(?:containerd|crio|docker)')),
  ],
};

/** Five restarts within twenty minutes, as node-problem-detector counts them. */
export const systemdMonitorWindows = {
  source: 'systemd-monitor',
  rules: [
    { reason: 'KubeletRestarts', count: 5, windowSeconds: 1200 },
    { reason: 'ContainerRuntimeRestarts', count: 5, windowSeconds: 1200 },
  ],
};

function restartOf(unit: string): string {
  return `\\b${unit}\\.service: Scheduled restart job, restart counter is at \\d+\\.`;
}

function failureOf(unit: string): string {
  return `\\b${unit}\\.service: Failed with result '.+'\\.`;
}

/** Raises a condition. */
function permanent(condition: string, reason: string, pattern: string): object {
  return { type: 'permanent', condition, reason, pattern };
}

/** Makes an Event only. */
function temporary(reason: string, pattern: string): object {
  return { type: 'temporary', reason, pattern };
}
