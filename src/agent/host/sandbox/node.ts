/** Provides the node of a sandbox: it boots when its processes were ended, by `reboot` or by a boot of the real machine. */
import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { arch, release, type, uptime } from 'node:os';
import type { Clock } from '../../../os/clock.ts';
import { writeFileAtomic } from '../../../os/files.ts';
import { createParsedFile } from '../disk/parsed-file.ts';
import type { HostNode } from '../port.ts';
import type { SandboxFolders } from './folders.ts';

interface Boot {
  readonly bootId: string;
  /** The boot id of the real machine. */
  readonly kernelBootId: string;
  readonly bootedAt: string;
  /** The uptime that the real machine had then. Files of an earlier version do not have it. */
  readonly bootedUptimeMs?: number;
  /** Whether the enabled units were not started yet. */
  readonly isStarting: boolean;
}

interface SandboxNodeOptions {
  readonly folders: SandboxFolders;
  readonly clock: Clock;
  readonly endAll: () => Promise<void>;
  readonly startEnabled: () => Promise<void>;
}

export interface SandboxNode extends HostNode {
  /** Finishes a boot that was interrupted, or begins one when the real machine was booted. */
  resume(): Promise<void>;
}

export function createSandboxNode({ folders, clock, endAll, startEnabled }: SandboxNodeOptions): SandboxNode {
  const readBoot = createParsedFile(folders.bootFile, (text) =>
    text === '' ? undefined : (JSON.parse(text) as Boot),
  );

  /** Boots the sandbox. The new boot id is durable before anything ends: a boot that is interrupted is finished by the next agent. */
  async function boot(): Promise<void> {
    const begun = {
      bootId: randomUUID(),
      kernelBootId: await readKernelBootId(),
      bootedAt: clock.now().toISOString(),
      bootedUptimeMs: uptime() * 1000,
      isStarting: true,
    };
    await writeFileAtomic(folders.bootFile, JSON.stringify(begun));
    await finish(begun);
  }

  async function finish(begun: Boot): Promise<void> {
    await endAll();
    await startEnabled();
    await writeFileAtomic(folders.bootFile, JSON.stringify({ ...begun, isStarting: false }));
  }

  return {
    async resume() {
      const known = await readBoot();
      if (known?.kernelBootId !== (await readKernelBootId())) await boot();
      else if (known.isStarting) await finish(known);
    },
    bootId: async () => (await readBoot())?.bootId ?? NOT_BOOTED,
    machineId: async () => createHash('sha256').update(folders.root).digest('hex').slice(0, 32),
    async facts() {
      const { bootedAt } = (await readBoot()) ?? { bootedAt: clock.now() };
      return {
        os: 'linux',
        osImage: `sandbox on ${type()}`,
        kernel: release(),
        arch: arch() === 'arm64' ? 'arm64' : 'amd64',
        bootedAt: new Date(bootedAt),
      };
    },
    health: async () => ({}),
    async uptimeMs() {
      const { bootedAt = '', bootedUptimeMs } = (await readBoot()) ?? {};
      const sinceMs =
        bootedUptimeMs === undefined
          ? clock.now().getTime() - Date.parse(bootedAt)
          : uptime() * 1000 - bootedUptimeMs;
      return Math.max(0, sinceMs || 0);
    },
    reboot: boot,
  };
}

/** The boot id before the first agent opened the sandbox. */
const NOT_BOOTED = 'not-booted';

async function readKernelBootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
}
