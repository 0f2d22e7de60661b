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
    { type: 'FrequentSystemOOM', reason: 'NoFrequentSystemOOM', message: 'the memory of the node is enough' },
    { type: 'ConntrackFull', reason: 'ConntrackHasRoom', message: 'no packet is dropped' },
  ],
  rules: [
    permanent('FrequentTaskHung', 'TaskHung', 'task .+:\\d+ blocked for more than \\d+ seconds\\.'),
    permanent('ReadonlyFilesystem', 'FilesystemIsReadOnly', '[Rr]emounting filesystem read-only'),
    permanent('ReadonlyFilesystem', 'FilesystemIsReadOnly', 'BTRFS.*: forced readonly'),
    permanent('ReadonlyFilesystem', 'FilesystemIsShutDown', 'XFS.*[Ss]hutting down filesystem\\.?'),
    // With a capital letter: the memory of the node, and not that of one control group. Kernels before 5.1 write "Kill".
    permanent('FrequentSystemOOM', 'SystemOOM', '\\bOut of memory: Kill(?:ed)? process \\d+ \\(.+\\).*'),
    permanent(
      'ConntrackFull',
      'ConntrackTableFull',
      'nf_conntrack: table full(?: in netns \\d+)?, dropping packet\\.?',
    ),
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

/**
 * One hung task may recover. Three lines within five minutes are a kernel that hangs. The kernel writes at most ten lines of dropped
 * packets in five seconds: three within five minutes are more than one burst.
 */
export const kernelMonitorWindows = {
  source: 'kernel-monitor',
  rules: [
    { reason: 'TaskHung', count: 3, windowSeconds: 300 },
    { reason: 'SystemOOM', count: 5, windowSeconds: 600 },
    { reason: 'ConntrackTableFull', count: 3, windowSeconds: 300 },
  ],
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

export const CLOCK_PROGRAM = '/etc/kubenode/detector/check-clock';

/** Asks the host whether its clock is synchronized, whichever program does that. */
export const clockMonitor = {
  plugin: 'custom',
  pluginConfig: { invoke_interval: '60s', timeout: '10s', max_output_length: 80, concurrency: 1 },
  source: 'clock-monitor',
  metricsReporting: true,
  conditions: [{ type: 'NTPProblem', reason: 'NTPIsUp', message: 'the clock is synchronized' }],
  rights: {},
  rules: [
    {
      type: 'permanent',
      condition: 'NTPProblem',
      reason: 'NTPIsDown',
      path: CLOCK_PROGRAM,
      timeout: '10s',
    },
  ],
};

/**
 * What the kernel reports becomes "no" when the clock may be wrong by 16 seconds, hours after the last answer of a time server. A
 * host that has no timedatectl, or no D-Bus, cannot tell.
 */
export const CHECK_CLOCK = `#!/bin/sh
# 0 when the clock is synchronized, 1 when it is not, 2 when the host cannot tell.
synchronized=$(timedatectl show --property=NTPSynchronized --value 2>&1) || {
  echo 'timedatectl does not answer'
  exit 2
}
case $synchronized in
yes)
  echo 'the clock is synchronized'
  exit 0
  ;;
no)
  echo 'the clock is not synchronized'
  exit 1
  ;;
esac
echo 'timedatectl does not report NTPSynchronized'
exit 2
`;

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
