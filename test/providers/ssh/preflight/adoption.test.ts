import { describe, expect, it } from 'vitest';
import type { NodeAdoption } from '../../../../src/providers/ssh/preflight/check.ts';
import { NETWORK_CHECKS } from '../../../../src/providers/ssh/preflight/checks/network.ts';
import { NODE_CHECKS } from '../../../../src/providers/ssh/preflight/checks/node.ts';
import type { PreflightFacts } from '../../../../src/providers/ssh/preflight/facts.ts';

const NOW = new Date('2030-01-01T00:00:00Z');
const OWN: NodeAdoption = { node: 'n1' };
const FOREIGN: NodeAdoption = { node: 'n1', refusedReason: 'this cluster has no Node n1' };

function states(processes: readonly string[], adoption?: NodeAdoption): string {
  const facts = {
    processes,
    paths: [],
    cniConfigs: ['10-bridge.conflist'],
    interfaces: [],
    listens: [10_250],
  } as unknown as PreflightFacts;
  const input = { facts, started: NOW, ended: NOW, ...(adoption && { adoption }) };
  const checks = { ...NODE_CHECKS, ...NETWORK_CHECKS };
  return ['Kubelet', 'ContainerRuntime', 'CNI', 'Ports'].map((name) => checks[name]?.(input).state).join(' ');
}

describe('the checks of a host that is a Node already', () => {
  it.each<[string, readonly string[], NodeAdoption | undefined, string]>([
    ['fail without adoption', ['kubelet', 'containerd'], undefined, 'Fail Warn Warn Fail'],
    ['pass for the Node of this cluster', ['kubelet', 'containerd'], OWN, 'Pass Pass Pass Pass'],
    ['fail for a Node of another cluster', ['kubelet', 'containerd'], FOREIGN, 'Fail Warn Warn Fail'],
    ['fail for a program with a kubelet inside', ['k3s', 'containerd'], OWN, 'Fail Pass Pass Pass'],
  ])('MAC-19 gives checks of a running Node that %s', (_, processes, adoption, expected) => {
    expect(states(processes, adoption)).toBe(expected);
  });

  it('MAC-19 names why the host cannot be adopted', () => {
    const facts = { processes: ['kubelet'], paths: [] } as unknown as PreflightFacts;
    const found = NODE_CHECKS['Kubelet']?.({ facts, started: NOW, ended: NOW, adoption: FOREIGN });
    expect(found?.found).toBe(
      'kubelet runs: the host is a Node already, and cannot be adopted: this cluster has no Node n1',
    );
  });

  it('fails for an agent of another Machine, also where the Node is adopted', () => {
    const facts = { processes: [], paths: ['/var/lib/kubenode'] } as unknown as PreflightFacts;
    const found = NODE_CHECKS['Agent']?.({ facts, started: NOW, ended: NOW, adoption: OWN });
    expect(found?.state).toBe('Fail');
  });
});
