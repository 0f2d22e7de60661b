import { describe, expect, it } from 'vitest';
import type { CollectedFacts } from '../../../src/agent/facts/collector.ts';
import type { PeerAnswer } from '../../../src/api/generated/types.ts';
import { createProxyHost } from '../../support/agent/component-driver.ts';
import { fakeAgentApi } from '../../support/agent/fake-api.ts';
import { openTestAgent } from '../../support/agent/open-agent.ts';
import { NOW, virtualClock } from '../../support/virtual-clock.ts';

describe('published status', () => {
  it('names what the host permits to repairs, and nothing while its file is damaged', async () => {
    const clock = virtualClock();
    const api = fakeAgentApi();
    api.declare([]);
    const host = createProxyHost(clock);
    const writeConfig = (text: string): Promise<void> =>
      host.files.write('/etc/kubenode/jobs.json', new TextEncoder().encode(text), {
        mode: '0600',
        owner: 'root:root',
      });
    const agent = await openTestAgent({ host, api, clock });
    await agent.reconcile();
    await writeConfig('{"services": ["web"]}');
    await agent.reconcile();
    await writeConfig('{');
    await agent.reconcile();
    const services = ['containerd', 'crio', 'kubelet', 'node-problem-detector'];
    expect(api.statuses.map(({ agent: found }) => found?.permits)).toEqual([
      { services, profiles: ['default'] },
      { services: ['web'], profiles: ['default'] },
      undefined,
    ]);
  });

  it('contains the facts of the host, and is written once for each change of them', async () => {
    const clock = virtualClock();
    const api = fakeAgentApi();
    api.declare([]);
    let facts: CollectedFacts = {};
    const agent = await openTestAgent({ host: createProxyHost(clock), api, clock, facts: () => facts });
    const bootedAt = NOW.toISOString();
    await agent.reconcile();
    expect(api.statuses.map((status) => status.facts)).toEqual([{ bootedAt }]);
    facts = { disk: [{ filesystem: 'imagefs', usedPercent: 81 }], probes: [] };
    await agent.reconcile();
    facts = structuredClone(facts);
    await agent.reconcile();
    expect(api.statuses.map((status) => status.facts)).toEqual([{ bootedAt }, { bootedAt, ...facts }]);
    facts = {};
    await agent.reconcile();
    expect(api.statuses.at(-1)?.facts).toEqual({ bootedAt });
  });

  it('R20 contains what was found of silent machines, and nothing when none is silent', async () => {
    const clock = virtualClock();
    const api = fakeAgentApi();
    api.declare([]);
    const at = NOW.toISOString();
    const answer = {
      machine: 's-1',
      result: 'NoAnswer',
      requestedAt: at,
      since: at,
      lastProbeTime: at,
    } as const;
    let peers: readonly PeerAnswer[] = [];
    const agent = await openTestAgent({ host: createProxyHost(clock), api, clock, peers: () => peers });
    await agent.reconcile();
    peers = [answer];
    await agent.reconcile();
    peers = [];
    await agent.reconcile();
    expect(api.statuses.map((status) => status.peers)).toEqual([undefined, [answer], undefined]);
  });
});
