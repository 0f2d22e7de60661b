import { describe, expect, it } from 'vitest';
import type { CollectedFacts } from '../../../src/agent/facts/collector.ts';
import { createProxyHost } from '../../support/agent/component-driver.ts';
import { fakeAgentApi } from '../../support/agent/fake-api.ts';
import { openTestAgent } from '../../support/agent/open-agent.ts';
import { NOW, virtualClock } from '../../support/virtual-clock.ts';

describe('published status', () => {
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
});
