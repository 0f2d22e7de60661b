import { describe, expect, it } from 'vitest';
import { largestPods } from '../../../../../src/controllers/remedyjob/execute/steps/largest-pods.ts';
import type { KubeObject, Metadata } from '../../../../../src/kube/objects/object.ts';
import { later } from '../../jobs.ts';

const BEFORE = new Date(later(0));

function pod(name: string, requests: readonly unknown[], metadata: Partial<Metadata> = {}): KubeObject {
  const containers = requests.map((quantity) => ({ resources: { requests: { memory: quantity } } }));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'shop', uid: name, creationTimestamp: later(-60), ...metadata, name },
    spec: { containers },
  };
}

function names(pods: readonly KubeObject[]): readonly string[] {
  return largestPods(pods, 'memory', BEFORE).map(({ metadata }) => metadata.name);
}

describe('largestPods', () => {
  it('orders by the sum of all containers, in every unit of a quantity', () => {
    const pods = [pod('b', ['1500M']), pod('c', ['1Gi', '1Gi']), pod('a', [1.5e9]), pod('d', ['900m'])];
    expect(names(pods)).toEqual(['c', 'a', 'b', 'd']);
  });

  it('counts the limit of a container without a request', () => {
    const limited = {
      ...pod('limited', []),
      spec: { containers: [{ resources: { limits: { memory: '2Gi' } } }] },
    };
    expect(names([pod('a', ['1Gi']), limited])).toEqual(['limited', 'a']);
  });

  it('leaves pods alone that a drain leaves alone, that end already, or that came later', () => {
    const daemon = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd', controller: true };
    const pods = [
      pod('daemon', ['1Gi'], { ownerReferences: [daemon] }),
      pod('ending', ['1Gi'], { deletionTimestamp: later(0) }),
      pod('new', ['1Gi'], { creationTimestamp: later(1) }),
      pod('unreadable', ['much']),
      pod('none', []),
    ];
    expect(names(pods)).toEqual([]);
  });
});
