import { describe, expect, it } from 'vitest';
import type { PeerResult } from '../../../src/api/enums.ts';
import { NAMESPACE_AGENTS } from '../../../src/api/names.ts';
import { createRuleIndex } from '../../../src/rules/live/rule-index.ts';
import { condition, type MachineParts, machine } from '../../support/builders.ts';
import { type FactsBed, factsBed } from '../live/facts-bed.ts';
import { ruleOf } from '../live/rules-bed.ts';

const SILENT_MS = 46_000;
const PEERS = ['p-1', 'p-2', 'p-3'];
const RULE = ruleOf([{ fact: 'diagnosis', path: '$.cause', operator: 'equal', value: 'agent-only' }]);

function agentLease(bed: FactsBed, name: string): void {
  bed.put('agentLeases', {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: NAMESPACE_AGENTS },
    spec: { renewTime: bed.clock.now().toISOString() },
  });
}

/** An instance of a cloud. */
function instance(
  state: 'Running' | 'Stopped',
  infraReady: 'True' | 'False' | 'Unknown' = 'True',
): MachineParts {
  return {
    spec: { infra: { provider: 'aws', config: {} } },
    status: { infra: { state }, conditions: [condition('InfraReady', infraReady)] },
  };
}

/** A host that a person owns, with what its BMC told. */
function host(state?: 'On' | 'Off'): MachineParts {
  const power = state && { state, since: '2030-01-01T11:00:00Z' };
  return { spec: { infra: { provider: 'ssh', config: {} } }, status: power ? { power } : {} };
}

/** Machine `n` with peers, of which all report. */
function open(parts: MachineParts = instance('Running')): FactsBed {
  const bed = factsBed();
  bed.machine(parts);
  for (const name of PEERS) bed.put('machines', machine(name));
  bed.node({ Ready: 'True' });
  reportAll(bed);
  return bed;
}

function reportAll(bed: FactsBed): void {
  bed.heartbeat();
  reportPeers(bed);
}

function reportPeers(bed: FactsBed): void {
  for (const name of PEERS) agentLease(bed, name);
}

/** The kubelet and the agent of `n` are silent. */
async function fallSilent(bed: FactsBed): Promise<void> {
  await bed.clock.advance(SILENT_MS);
  bed.node({ Ready: 'Unknown' });
}

function answerOf(bed: FactsBed, peer: string, result: PeerResult, requestedAt: string): void {
  const now = bed.clock.now().toISOString();
  const answer = { machine: 'n', result, requestedAt, since: now, lastProbeTime: now };
  bed.put('machines', machine(peer, { status: { peers: [answer] } }));
}

describe('the fact diagnosis', () => {
  it('R20 knows that a machine is not silent', () => {
    expect(open().read('diagnosis')).toEqual({
      cause: 'none',
      confidencePercent: 95,
      power: 'On',
      peers: 'Unknown',
      peerProbes: 'Unknown',
    });
  });

  it('R20 tells a host that hangs from one whose power is off or unknown', async () => {
    const causes: unknown[] = [];
    for (const parts of [instance('Running'), instance('Stopped', 'False'), instance('Running', 'Unknown')]) {
      const bed = open(parts);
      await fallSilent(bed); // oxlint-disable-line no-await-in-loop -- each has its own clock
      reportPeers(bed);
      causes.push(bed.read('diagnosis')?.['cause']);
    }
    expect(causes).toEqual(['host-hang', 'power-off', 'unreachable']);
  });

  it('R20 believes the BMC of a host of provider ssh, once it was read', async () => {
    const bed = open(host());
    await fallSilent(bed);
    reportPeers(bed);
    expect(bed.read('diagnosis')).toMatchObject({ cause: 'unreachable', power: 'Unknown' });
    bed.changes.length = 0;
    bed.machine(host('Off'));
    expect(bed.changes.map(({ topics }) => topics)).toContainEqual(['diagnosis']);
    expect(bed.read('diagnosis')).toMatchObject({ cause: 'power-off', power: 'Off' });
    bed.machine(host('On'));
    expect(bed.read('diagnosis')).toMatchObject({ cause: 'host-hang', power: 'On' });
  });

  it('R20 names the network while the neighbors are silent, too, and the host when they report again', async () => {
    const bed = open();
    await fallSilent(bed);
    expect(bed.read('diagnosis')).toMatchObject({ cause: 'network', peers: 'Silent' });
    bed.changes.length = 0;
    reportPeers(bed);
    await bed.clock.advance(15_000);
    expect(bed.changes.length).toBeGreaterThan(0);
    expect(bed.read('diagnosis')).toMatchObject({ cause: 'host-hang', peers: 'Alive' });
  });

  it('R20 believes the agents of its peers that probe it, while their answers are fresh', async () => {
    const bed = open(host());
    await fallSilent(bed);
    reportPeers(bed);
    const since = bed.clock.now().toISOString();
    const silence = { address: '10.0.0.1', port: 10_250, since, peers: PEERS };
    bed.changes.length = 0;
    bed.machine({ ...host(), status: { silence } });
    expect(bed.changes.map(({ topics }) => topics)).toContainEqual(['diagnosis']);
    const probed = (...results: readonly PeerResult[]): unknown => {
      for (const [index, result] of results.entries()) answerOf(bed, PEERS[index] ?? '', result, since);
      return bed.read('diagnosis');
    };
    expect(bed.read('diagnosis')).toMatchObject({ cause: 'unreachable', peerProbes: 'Unknown' });
    expect(probed('NoAnswer', 'NoAnswer')).toMatchObject({
      cause: 'unreachable',
      confidencePercent: 80,
      peerProbes: 'NoAnswer',
    });
    expect(probed('Refused', 'Refused')).toMatchObject({ cause: 'host-hang', peerProbes: 'Refused' });
    expect(probed('KubeletAnswers')).toMatchObject({ cause: 'network', peerProbes: 'KubeletAnswers' });
    expect(probed('PortOpen', 'NoAnswer')).toEqual({});
    expect(bed.why('diagnosis')).toMatch(/probes by peers PortOpen$/);

    await bed.clock.advance(301_000);
    reportPeers(bed);
    expect(bed.read('diagnosis')).toMatchObject({ cause: 'unreachable', peerProbes: 'Unknown' });
  });

  it('R20 does not read the probes of a machine that reports', async () => {
    const bed = open(host());
    const since = bed.clock.now().toISOString();
    const silence = { address: '10.0.0.1', port: 10_250, since, peers: PEERS };
    bed.machine({ ...host(), status: { silence } });
    for (const name of PEERS) answerOf(bed, name, 'NoAnswer', since);
    expect(bed.read('diagnosis')).toMatchObject({ cause: 'none', peerProbes: 'Unknown' });
  });

  it('R20 tells which one of agent and kubelet is silent', async () => {
    const bed = open();
    await bed.clock.advance(SILENT_MS);
    bed.node({ Ready: 'True' });
    expect(bed.read('diagnosis')?.['cause']).toBe('agent-only');
    bed.heartbeat();
    bed.node({ Ready: 'Unknown' });
    expect(bed.read('diagnosis')?.['cause']).toBe('kubelet-only');
  });

  it('R20 is read again when the agent reports for the first time, or after a silence', async () => {
    const bed = factsBed();
    bed.machine(instance('Running'));
    bed.node({ Ready: 'True' });
    expect(bed.why('diagnosis')).toMatch(/^agent Unknown/);
    bed.changes.length = 0;
    bed.heartbeat();
    expect(createRuleIndex(new Map([['silent', RULE]])).affected(bed.changes[0] ?? { topics: [] })).toEqual([
      'silent',
    ]);
    await bed.clock.advance(SILENT_MS);
    expect(bed.read('diagnosis')?.['cause']).toBe('agent-only');
    expect(bed.live().dueInMs('n', RULE)).toBeLessThanOrEqual(15_001);
  });

  it('R20 knows nothing of a silent machine without neighbors, and of one that never reported', async () => {
    const alone = factsBed();
    alone.machine(instance('Running'));
    alone.node({ Ready: 'True' });
    alone.heartbeat();
    await fallSilent(alone);
    expect(alone.read('diagnosis')).toEqual({});
    expect(alone.why('diagnosis')).toBe(
      'agent Silent, kubelet Silent, power On, peers Unknown, probes by peers Unknown',
    );

    const never = factsBed();
    never.machine(instance('Stopped', 'False'));
    never.node({ Ready: 'Unknown' });
    expect(never.why('diagnosis')).toMatch(/^agent Unknown/);

    const deleted = open();
    deleted.remove('machines', machine('n'));
    expect(deleted.why('diagnosis')).toBe('the Node has no Machine');
  });

  it.each([
    ['agentLeases', /Leases of agents/],
    ['nodeLeases', /Leases of kubelets/],
    ['machines', /Machines/],
    ['nodes', /Nodes/],
  ] as const)('R20 knows nothing without contact to %s', async (view, why) => {
    const cut = open();
    await fallSilent(cut);
    reportPeers(cut);
    cut.silence(view, 200_000);
    expect(cut.why('diagnosis')).toMatch(why);
  });
});
