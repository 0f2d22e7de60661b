/** The machine itself: identity, facts, reboot. */
import { readFile } from 'node:fs/promises';
import { arch, release, uptime } from 'node:os';
import type { Clock } from '../../../os/clock.ts';
import { readFileIfExists } from '../../../os/files.ts';
import { HostError } from '../errors.ts';
import type { HostNode } from '../port.ts';
import { failureText, type RunCommand } from './commands.ts';
import { readHealth } from './health.ts';
import { parseProperties, parseTimestamp } from './unit-properties.ts';

export interface SystemdNodeOptions {
  readonly run: RunCommand;
  readonly clock: Clock;
  /** When the agent has to end: systemd sends it before the machine goes down. */
  readonly signal?: AbortSignal;
}

/** A machine that still runs after this time has not rebooted. */
const REBOOT_MS = 5 * 60_000;

/** A unit without default dependencies is not stopped by a shutdown. The unit of the agent cannot write to the kernel itself. */
const FORCE = [
  'systemd-run',
  '--quiet',
  '--no-block',
  '--collect',
  '--unit=kubenode-force-reboot',
  '--property=DefaultDependencies=no',
  '/bin/sh',
  '-c',
];
/** Writes what is in memory to the disks, protects them, and boots. */
const SYSRQ = 'for key in s u b; do echo $key > /proc/sysrq-trigger; sleep 2; done';

export function createSystemdNode({ run, clock, signal }: SystemdNodeOptions): HostNode {
  return {
    bootId: async () => (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim(),
    machineId: async () => (await readFile('/etc/machine-id', 'utf8')).trim(),
    facts: async () => ({
      os: 'linux',
      osImage: osImage((await readFileIfExists('/etc/os-release')) ?? ''),
      kernel: release(),
      arch: arch() === 'arm64' ? 'arm64' : 'amd64',
      bootedAt: await readBootedAt(run),
    }),
    health: readHealth,
    uptimeMs: async () => uptime() * 1000,
    async reboot() {
      const answer = await run(['systemctl', '--no-ask-password', 'reboot']);
      if (answer.exitCode !== 0) throw notRebooted(failureText(answer));
      // It must not look done before it is: the next thing that the agent sees is another boot id.
      await clock.sleep(REBOOT_MS, signal);
      throw notRebooted(`it still runs after ${REBOOT_MS / 60_000} minutes`);
    },
    async forceReboot(afterMs) {
      const answer = await run([...FORCE, `sleep ${Math.ceil(afterMs / 1000)}; ${SYSRQ}`]);
      if (answer.exitCode !== 0) throw notRebooted(failureText(answer));
    },
  };
}

async function readBootedAt(run: RunCommand): Promise<Date> {
  const { stdout } = await run(['systemctl', 'show', '--property=UserspaceTimestamp']);
  return new Date(parseTimestamp(parseProperties(stdout).get('UserspaceTimestamp') ?? '') ?? 0);
}

export function osImage(osRelease: string): string {
  const name = /^PRETTY_NAME="?(?<name>[^"\n]*)"?$/m.exec(osRelease)?.groups?.['name'];
  return name ?? 'Linux';
}

function notRebooted(because: string): HostError {
  return new HostError('NotStopped', `the machine did not reboot: ${because}`, { where: 'systemctl reboot' });
}
