import { describe, expect, it } from 'vitest';
import type { MachineFacts } from '../../../src/defender/facts/facts.ts';
import { observedFacts } from '../../../src/defender/facts/observed-machine.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { ago, condition, type MachineParts, machine, NOW, node } from '../../support/builders.ts';

function facts(parts: MachineParts = {}, its: KubeObject | undefined = node('n', 'True')): MachineFacts {
  return observedFacts({
    machine: machine('n', parts),
    node: its,
    blockingPods: undefined,
    unknownSince: NOW,
    faults: undefined,
  });
}

function nodeWith(fields: Readonly<Record<string, unknown>>): KubeObject {
  return { ...node('n', 'True', { uid: 'u-1', creationTimestamp: ago(3600) }), ...fields };
}

function vantageOf(
  state: 'Running' | 'Stopped',
  statuses: Readonly<Record<string, 'True' | 'False' | 'Unknown'>>,
): Partial<MachineFacts> {
  const conditions = Object.entries(statuses).map(([type, status]) => condition(type, status));
  const { agentReports, power } = facts({ status: { conditions, infra: { state } } });
  return { ...(agentReports ? { agentReports } : {}), ...(power ? { power } : {}) };
}

describe('observedFacts', () => {
  it.each([
    ['Ready', node('n', 'True'), 'Ready'],
    ['not Ready', node('n', 'False'), 'NotReady'],
    ['Unknown', node('n', 'Unknown'), 'Unknown'],
    ['a Node that reports nothing', nodeWith({ status: {} }), 'Unknown'],
  ] as const)('reads the readiness of its Node: %s', (_, its, readiness) => {
    expect(facts({}, its).readiness).toBe(readiness);
  });

  it('R20 reads what others report about a silent machine: its agent and the provider of its instance', () => {
    expect(vantageOf('Running', { AgentReady: 'True', InfraReady: 'True' })).toEqual({
      agentReports: true,
      power: 'On',
    });
    expect(vantageOf('Stopped', { AgentReady: 'Unknown', InfraReady: 'False' })).toEqual({ power: 'Off' });
    expect(vantageOf('Running', { InfraReady: 'Unknown' })).toEqual({});
  });

  it('R20 reads who probes a silent machine, and what the agent of a machine found', () => {
    const since = '2030-01-01T11:59:00Z';
    const silence = { address: '10.0.0.1', port: 10_250, since, peers: ['p-1'] };
    const answer = { machine: 's-1', result: 'NoAnswer', requestedAt: since, since } as const;
    const peers = [{ ...answer, lastProbeTime: since }];
    expect(facts({ status: { silence, peers } })).toMatchObject({ silence, peers });
    expect(Object.keys(facts({}))).not.toContain('silence');
    expect(Object.keys(facts({}))).not.toContain('peers');
  });

  it('MAC-40 counts a machine that is only kept as not established, unless it takes pods again', () => {
    const parts = {
      metadata: { deletionTimestamp: ago(60) },
      status: {
        node: { uid: 'u', establishedAt: ago(900) },
        kept: { job: 'j', since: ago(30), until: ago(-30), max: 1 },
      },
    };
    const kept = {
      machine: machine('n', parts),
      blockingPods: {},
      unknownSince: undefined,
      faults: undefined,
    };
    expect(observedFacts({ ...kept, node: undefined }).established).toBe(false);
    expect(observedFacts({ ...kept, node: node('n', 'True') }).established).toBe(true);
  });

  it('counts a machine whose Node was deleted as not Ready, and one that never had a Node as not established', () => {
    const had = observedFacts({
      machine: machine('n', { status: { node: { uid: 'u' } } }),
      node: undefined,
      blockingPods: {},
      unknownSince: undefined,
      faults: undefined,
    });
    expect(had).toMatchObject({ readiness: 'NotReady', established: true });
    const never = observedFacts({
      machine: machine('n'),
      node: undefined,
      blockingPods: {},
      unknownSince: undefined,
      faults: undefined,
    });
    expect(never).toMatchObject({ readiness: 'NotReady', established: false });
  });

  it('is not established before the start-up taint is removed', () => {
    const taints = [{ key: 'kubenode.dev/not-initialized', effect: 'NoSchedule' }];
    expect(facts({}, nodeWith({ spec: { taints } }))).toMatchObject({
      established: false,
      taints: ['kubenode.dev/not-initialized'],
    });
    expect(facts().established).toBe(true);
  });

  it('takes zone and pool from the Machine before its Node, and the set as pool without one', () => {
    const zone = { 'topology.kubernetes.io/zone': 'b' };
    const its = { ...node('n', 'True', { labels: { ...zone, 'kubenode.dev/pool': 'of-the-kubelet' } }) };
    const labels = { 'kubenode.dev/machineset': 'web', 'kubenode.dev/pool': 'gpu' };
    expect(facts({ spec: { zone: 'a' }, metadata: { labels } }, its)).toMatchObject({
      zone: 'a',
      pool: 'gpu',
    });
    expect(facts({ metadata: { labels: { 'kubenode.dev/machineset': 'web' } } })).toMatchObject({
      pool: 'web',
    });
    expect(facts({}, its).zone).toBe('b');
    expect(facts()).not.toHaveProperty('pool');
  });

  it('keeps every hold: of the spec, and of annotations of the Machine and its Node', () => {
    const annotations = { 'kubenode.dev/hold': '2030-02-01T00:00:00Z; replacing a disk; slot 4' };
    const its = node('n', 'True', { annotations: { 'kubenode.dev/hold': 'alice is on it' } });
    const hold = { reason: 'spec', scope: 'Disruptive' } as const;
    expect(facts({ metadata: { annotations }, spec: { hold } }, its).holds).toEqual([
      hold,
      { reason: 'replacing a disk; slot 4', scope: 'All', until: '2030-02-01T00:00:00.000Z' },
      { reason: 'alice is on it', scope: 'All' },
    ]);
  });

  it('is excluded by a label of the Machine or of its Node', () => {
    const labels = { 'kubenode.dev/exclude': 'true' };
    expect(facts().excluded).toBe(false);
    expect(facts({ metadata: { labels } }).excluded).toBe(true);
    expect(facts({}, node('n', 'True', { labels })).excluded).toBe(true);
  });

  it('reads repairs newest first, without those that had no risk', () => {
    const recent = [
      { at: ago(300), risk: 'Pod' },
      { at: ago(60), risk: 'Node' },
      { at: ago(50), risk: 'Node', job: 'n-hang-7c1f02ab-r1-a1', changed: false },
      { at: ago(30), risk: 'None' },
      { risk: 'Node' },
    ] as const;
    expect(facts({ status: { repairs: { recent } } }).repairs).toEqual([
      { at: new Date(ago(50)), rebooted: false, unchangedBy: 'n-hang-7c1f02ab-r1-a1' },
      { at: new Date(ago(60)), rebooted: true },
      { at: new Date(ago(300)), rebooted: false },
    ]);
    expect(facts().repairs).toEqual([]);
  });

  it('never states what was not observed', () => {
    const found = facts({}, nodeWith({}));
    for (const field of ['foreignLeases', 'blockingPods', 'hasLocalData', 'unknownSince']) {
      expect(found).not.toHaveProperty(field);
    }
    expect(found).toMatchObject({ nodeUID: 'u-1', nodeCreatedAt: new Date(ago(3600)), cordoned: false });
    expect(facts({}, node('n', 'Unknown')).unknownSince).toEqual(NOW);
  });

  it('reads a cordon, the control plane label and the values in which common causes are searched', () => {
    const labels = {
      'node-role.kubernetes.io/control-plane': '',
      'topology.kubernetes.io/rack': 'r7',
    };
    const nodeInfo = { kernelVersion: '6.1', kubeletVersion: 'v1.34.2' };
    const its = { ...node('n', 'True', { labels }), spec: { unschedulable: true }, status: { nodeInfo } };
    expect(facts({ spec: { zone: 'a' } }, its)).toMatchObject({
      cordoned: true,
      isControlPlane: true,
      dimensions: { zone: 'a', rack: 'r7', kernelVersion: '6.1', kubeletVersion: 'v1.34.2' },
    });
  });
});
