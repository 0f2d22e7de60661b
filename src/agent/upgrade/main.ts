/** Runs the program of the watchdog on a host. It supervises no units: that is for the agent. */
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import { createSandboxHost } from '../host/sandbox/host.ts';
import { leaveUnit } from '../host/sandbox/unit-process.ts';
import { runCommand } from '../host/systemd/commands.ts';
import { createSystemdHost } from '../host/systemd/host.ts';
import { createSandboxService } from './service/sandbox.ts';
import { createSystemdService } from './service/systemd.ts';
import { readSlots } from './slot-store.ts';
import { machineUptimeMs } from './uptime.ts';
import { runWatchdog } from './watchdog.ts';

export interface WatchUpgradeOptions {
  /** The directory of the sandbox. Without it the agent is a unit of systemd. */
  readonly directory?: string;
  readonly clock: Clock;
  readonly log: Log;
}

export async function watchUpgrade(
  { directory, clock, log }: WatchUpgradeOptions,
  signal: AbortSignal,
): Promise<void> {
  leaveUnit();
  const host =
    directory === undefined ? createSystemdHost({ clock }) : createSandboxHost({ directory, clock });
  const { upgrade } = await readSlots(host.files);
  if (!upgrade) return;
  const service =
    directory === undefined
      ? createSystemdService(host.files, runCommand)
      : createSandboxService(directory, upgrade, clock);
  await runWatchdog({ host, service, clock, log, uptimeMs: machineUptimeMs }, signal);
}
