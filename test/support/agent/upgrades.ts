/** Upgrades of the agent from /old to /new, on a host that keeps its files and at most one agent in memory. */
import { createMemoryHost, type MemoryHost } from '../../../src/agent/host/memory/host.ts';
import type { AgentService } from '../../../src/agent/upgrade/service/port.ts';
import type { AgentUpgrade } from '../../../src/agent/upgrade/slots.ts';
import type { VirtualClock } from '../virtual-clock.ts';

export function agentUpgrade(fields: Partial<AgentUpgrade> = {}): AgentUpgrade {
  return {
    key: 'k',
    version: '1.1',
    from: '/old',
    to: '/new',
    launch: { runtime: ['/usr/bin/node'], args: ['run'] },
    limits: { healthySeconds: 60, holdSeconds: 10, maxResidentBytes: 256 * 1024 ** 2 },
    replaces: { pid: 1, startTicks: '100', bootId: 'boot-1', command: [] },
    step: 'Starting',
    bootId: 'boot-1',
    boots: 0,
    ...fields,
  };
}

export interface UpgradingHost extends MemoryHost {
  readonly service: AgentService;
  /** Programs of the agents that run. */
  readonly running: readonly string[];
  /** Programs in the order in which they were started. */
  readonly starts: readonly string[];
  /** Ends every agent, as a reboot does. */
  endAgents(): void;
}

/** The old agent runs. A start does not end another agent: two of them would be observed. */
export function upgradingHost(clock: VirtualClock): UpgradingHost {
  const running: { readonly program: string; readonly pid: number }[] = [{ program: '/old', pid: 1 }];
  const starts: string[] = [];
  const host = createMemoryHost({ clock, artifacts: new Map() });
  const programs = { get: () => running.map(({ program }) => program), enumerable: true };
  const service: AgentService = {
    async running() {
      const [agent] = running;
      return agent && { pid: agent.pid, startId: String(agent.pid * 100), residentBytes: 1024 };
    },
    async stop() {
      running.length = 0;
    },
    async start(program) {
      starts.push(program);
      running.push({ program, pid: starts.length + 1 });
    },
    logTail: async () => 'the last line',
  };
  const all = { ...host, service, starts, endAgents: () => void running.splice(0) };
  return Object.defineProperty(all, 'running', programs) as unknown as UpgradingHost;
}
