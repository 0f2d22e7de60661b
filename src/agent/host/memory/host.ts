/** Provides a host in memory: for simulated agents by the thousand, and for tests that stop the agent at every call. */
import type { Clock } from '../../../os/clock.ts';
import { HostError } from '../errors.ts';
import type { Host, ProbeAnswer } from '../port.ts';
import { MemoryFiles, type UnpackInMemory } from './files.ts';
import { MemoryUnits } from './units.ts';

export interface MemoryHostOptions {
  readonly clock: Clock;
  /** The content by URL. A missing URL answers 404. */
  readonly artifacts: ReadonlyMap<string, Uint8Array>;
  readonly unpack?: UnpackInMemory;
  readonly capacityBytes?: number;
}

export interface MemoryHost extends Host {
  readonly files: MemoryFiles;
  readonly units: MemoryUnits;
  readonly reboots: () => number;
  /** Sets what http, tcp and socket probes answer. */
  answerProbes(answer: ProbeAnswer): void;
}

export function createMemoryHost({ clock, artifacts, unpack, capacityBytes }: MemoryHostOptions): MemoryHost {
  const files = new MemoryFiles(unpack ?? (() => new Map()), capacityBytes ?? Number.POSITIVE_INFINITY);
  const units = new MemoryUnits(files, clock);
  const bootedAt = clock.now();
  let [boots, bootedMs] = [1, clock.monotonicMs()];
  let answer: ProbeAnswer = { passed: true, detail: '' };
  return {
    type: 'memory',
    directory: '/',
    capabilities: { systemdUnits: true, ownership: true, programs: false, limits: false },
    files,
    units,
    processes: {
      run: async () => ({ exitCode: 0, timedOut: false, output: '', truncated: false }),
      openInodes: async () => new Set(),
      freeDirectory: async () => undefined,
    },
    node: {
      bootId: async () => `boot-${boots}`,
      machineId: async () => 'memory',
      facts: async () => ({ os: 'linux', osImage: 'memory', kernel: '6.1.0', arch: 'amd64', bootedAt }),
      health: async () => ({}),
      uptimeMs: async () => clock.monotonicMs() - bootedMs,
      async reboot() {
        [boots, bootedMs] = [boots + 1, clock.monotonicMs()];
        await units.reboot();
      },
    },
    network: {
      async download(url, to, { maxBytes }) {
        const content = artifacts.get(url);
        if (!content) throw new HostError('Download', `${url} answered 404`, { where: url });
        if (content.length > maxBytes) {
          throw new HostError('TooLarge', `${url} is larger than ${maxBytes} bytes`, { where: url });
        }
        await files.write(to, content, { mode: '0600', owner: 'root:root' });
      },
      probe: async () => answer,
      assignPorts: async (_component, ports) => new Map(ports.map(({ name, port }) => [name, port])),
    },
    reboots: () => boots - 1,
    answerProbes(next) {
      answer = next;
    },
  };
}
