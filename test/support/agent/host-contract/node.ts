/** The machine of a host: identity, facts, ports. */
import { uptime } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { ContractBed } from './bed.ts';

export function describeNode(bed: ContractBed): void {
  describe('node', () => {
    it('has an identity and facts that do not change', async () => {
      expect(await bed.host.node.machineId()).toBe(await bed.host.node.machineId());
      expect(await bed.host.node.bootId()).toBe(await bed.host.node.bootId());
      expect(await bed.host.node.facts()).toMatchObject({ os: 'linux' });
    });

    it('assigns the same port to the same name', async () => {
      const ports = [
        { name: 'web', port: 8080 },
        { name: 'metrics', port: 9090 },
      ];
      const first = await bed.host.network.assignPorts('proxy', ports);
      expect(new Set(first.values()).size).toBe(2);
      await bed.restartAgent();
      expect(await bed.host.network.assignPorts('proxy', ports)).toEqual(first);
    });

    it('was booted in the past, at a time that does not change', async () => {
      const before = await bed.host.node.facts();
      expect(before.bootedAt.getTime()).toBeGreaterThan(0);
      expect(['amd64', 'arm64']).toContain(before.arch);
      await bed.restartAgent();
      expect(await bed.host.node.facts()).toEqual(before);
    });

    it('counts the time since the boot, also over a restart of the agent', async () => {
      const before = await bed.host.node.uptimeMs();
      expect(before).toBeGreaterThanOrEqual(0);
      await bed.restartAgent();
      expect(await bed.host.node.uptimeMs()).toBeGreaterThanOrEqual(before);
      await bed.host.node.reboot();
      await bed.restartAgent();
      // The real nodes of the tests share the kernel of this machine, which counts on when they reboot.
      const mostMs = bed.host.type === 'systemd' ? (uptime() + 1) * 1000 : 600_000;
      expect(await bed.host.node.uptimeMs()).toBeLessThan(mostMs);
    });

    it('reports its health as far as it is known', async () => {
      const { blockedTasks = [], pressure = { memory: 0, io: 0 } } = await bed.host.node.health();
      expect(blockedTasks.every((task) => /^\d+-\d+-\d+$/.test(task))).toBe(true);
      for (const percent of [pressure.memory, pressure.io]) {
        expect(percent).toBeGreaterThanOrEqual(0);
        expect(percent).toBeLessThanOrEqual(100);
      }
    });

    it('keeps its identity over a reboot', async () => {
      const before = await bed.host.node.machineId();
      await bed.host.node.reboot();
      await bed.restartAgent();
      expect(await bed.host.node.machineId()).toBe(before);
    });
  });
}
