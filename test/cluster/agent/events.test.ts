import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMachineEvents } from '../../../src/agent/status/event-recorder.ts';
import type { MachineEvent } from '../../../src/agent/status/machine-events.ts';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import { AGENT_GROUP, agentUser, LABEL_AGENT_BLOCKED } from '../../../src/api/names.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { systemRandom } from '../../../src/os/system-random.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { eventsAbout } from './machine-events.ts';

let installed: InstalledServer;
beforeAll(async () => {
  installed = await startInstalledServer();
});
afterAll(() => installed?.stop());

const INSTALLED: MachineEvent = {
  type: 'Normal',
  reason: 'AgentInstalled',
  action: 'Install',
  note: 'proxy-1.0 is installed and runs',
};

async function declare(name: string): Promise<{ readonly name: string; readonly uid: string }> {
  const object = {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Machine',
    metadata: { name },
    spec: { infra: { provider: 'local' }, host: { type: 'sandbox' } },
  };
  const { metadata } = await installed.server.client.create(MACHINES, object);
  return { name, uid: metadata.uid ?? '' };
}

/** As one agent process, which ends after it wrote them. Returns what was written and dropped. */
async function record(
  agent: string,
  machine: { readonly name: string; readonly uid: string },
  events: readonly MachineEvent[],
): Promise<readonly string[]> {
  const results: string[] = [];
  const recorder = createMachineEvents({
    client: await installed.as(agentUser(agent), [AGENT_GROUP]),
    instance: agent,
    clock: createSystemClock(),
    random: systemRandom,
    log: memoryLog(),
    metrics: {
      written: () => void results.push('written'),
      dropped: (because) => void results.push(because),
    },
  });
  recorder.record(machine, events);
  await recorder.close();
  return results;
}

const stored = (machine: string): ReturnType<typeof eventsAbout> =>
  eventsAbout(installed.server.client, machine);

describe('Events of an agent, with its rights, on a real API server', () => {
  it('are written about its own Machine, and counted by the next process', async () => {
    const machine = await declare('n1');
    expect(await record('n1', machine, [INSTALLED])).toEqual(['written']);
    expect(await record('n1', machine, [INSTALLED, INSTALLED])).toEqual(['written']);
    expect(await stored('n1')).toMatchObject([
      { reason: 'AgentInstalled', series: { count: 3 }, regarding: { kind: 'Machine', uid: machine.uid } },
    ]);
  });

  it('AGT-41 are refused about the Machine of another agent, also where one exists', async () => {
    const machine = await declare('n2');
    expect(await record('n1', machine, [INSTALLED])).toEqual(['Forbidden']);
    expect(await stored('n2')).toEqual([]);
    await record('n2', machine, [INSTALLED]);
    expect(await record('n1', machine, [INSTALLED])).toEqual(['Forbidden']);
    expect(await stored('n2')).toMatchObject([{ reportingInstance: 'n2' }]);
    expect(await stored('n2')).not.toMatchObject([{ series: {} }]);
  });

  it('are refused while the agent is blocked', async () => {
    const machine = await declare('n3');
    const body = { metadata: { labels: { [LABEL_AGENT_BLOCKED]: 'CertificateLost' } } };
    await installed.server.client.patch(MACHINES, { name: 'n3' }, { type: 'merge', body });
    await expect.poll(() => record('n3', machine, [INSTALLED]), { interval: 200 }).toEqual(['Forbidden']);
  });

  it('are limited: of a thousand different ones about one Machine, few are written', async () => {
    const machine = await declare('n4');
    const many = Array.from({ length: 1000 }, (_, index) => ({ ...INSTALLED, note: `proxy-1.${index}` }));
    const results = await record('n4', machine, many);
    expect((await stored('n4')).length).toBeLessThanOrEqual(25);
    expect(results.length).toBeLessThanOrEqual(1000);
  });
});
