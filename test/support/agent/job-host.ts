/** An agent with repair jobs on a memory host that has the service web, which its configuration allows to restart. */
import type { MemoryHost } from '../../../src/agent/host/memory/host.ts';
import type { Host } from '../../../src/agent/host/port.ts';
import { JOBS_CONFIG_FILE } from '../../../src/agent/layout.ts';
import type { Agent } from '../../../src/agent/run/agent.ts';
import type { AgentStep, RemedyOperationJob } from '../../../src/api/generated/types.ts';
import { settle, type VirtualClock, virtualClock } from '../virtual-clock.ts';
import { createProxyHost } from './component-driver.ts';
import { type FakeAgentApi, fakeAgentApi } from './fake-api.ts';
import { openTestAgent } from './open-agent.ts';
import { agentUnit } from './targets.ts';

export interface JobHost {
  readonly clock: VirtualClock;
  readonly host: MemoryHost;
  readonly api: FakeAgentApi;
  /** Another agent process, on this host or on one that stands for it. */
  start(on?: Host): Promise<Agent>;
  /** Reconciles that agent for so long, each second. */
  run(agent: Agent, seconds: number): Promise<void>;
  answer(job?: string): AgentStep | undefined;
  /** What was done to the service since it ran first. */
  restarts(): { readonly stops: number; readonly starts: number; readonly active: boolean | undefined };
}

export const WEB = agentUnit('web');
const CONFIG = {
  services: ['web', 'proxy'],
  restartsPerHour: 2,
  detector: 'web',
  profiles: { default: { commands: { 'disk.txt': ['df', '-h'] }, files: ['/etc/hosts'] } },
};

export async function createJobHost(jobs: readonly RemedyOperationJob[] = []): Promise<JobHost> {
  const clock = virtualClock();
  const host = createProxyHost(clock);
  const api = fakeAgentApi();
  api.declare([]);
  for (const job of jobs) api.repairs.set(job.metadata.name, job);
  const attributes = { mode: '0644', owner: 'root:root' };
  await host.files.write(JOBS_CONFIG_FILE, new TextEncoder().encode(JSON.stringify(CONFIG)), attributes);
  await host.files.write('/etc/hosts', new TextEncoder().encode('127.0.0.1 localhost\n'), attributes);
  for (const log of ['app.log', 'app.log.1', 'app.log.2']) {
    await host.files.write(`/var/log/${log}`, new TextEncoder().encode('x'), attributes);
  }
  await host.units.write(WEB);
  await host.units.setEnabled('web', true);
  await host.units.start('web');
  const status = async (): Promise<boolean | undefined> => {
    const found = await host.units.status(WEB);
    return found && found.active === 'Active';
  };
  let active = await status();
  return {
    clock,
    host,
    api,
    async start(on = host) {
      return await openTestAgent({ host: on, api, clock });
    },
    async run(agent, seconds) {
      for (let passed = 0; passed <= seconds; passed += 1) {
        await agent.reconcile();
        await settle();
        if (passed < seconds) await clock.advance(1000);
      }
      active = await status();
    },
    answer: (job = 'job-1') => api.repairs.get(job)?.status?.agent?.steps[0],
    restarts: () => ({
      stops: host.units.stops.get('web') ?? 0,
      starts: (host.units.starts.get('web') ?? 0) - 1,
      active,
    }),
  };
}
