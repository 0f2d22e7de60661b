import { describe, expect, it } from 'vitest';
import { createStore } from '../../../src/kube/cache/store.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { kubeletHeartbeat, nodeOfEvent } from '../../../src/rules/live/fact-views.ts';
import type { FactView } from '../../../src/rules/views.ts';
import { ago, node } from '../../support/builders.ts';
import { memoryLog } from '../../support/memory-log.ts';

function nodesWith(...all: readonly KubeObject[]): FactView {
  const store = createStore({ log: memoryLog() });
  store.replace(all, '1');
  const freshness = { synced: true, ageMs: 0, lastContactAt: undefined, error: undefined };
  return { store, reflector: { freshness: () => freshness } };
}

describe('nodeOfEvent', () => {
  it.each<readonly [node: string | undefined, involvedObject: object | undefined]>([
    ['n', { kind: 'Node', name: 'n' }],
    ['n', { kind: 'Node', name: 'n', uid: '' }],
    ['n', { kind: 'Node', name: 'n', uid: 'n' }],
    ['n', { kind: 'Node', name: 'n', uid: 'uid-1' }],
    [undefined, { kind: 'Node', name: 'n', uid: 'uid-0' }],
    ['deleted', { kind: 'Node', name: 'deleted', uid: 'uid-0' }],
    [undefined, { kind: 'Pod', name: 'n' }],
    [undefined, { kind: 'Node' }],
    [undefined, undefined],
  ])('is %s for an Event about %j', (name, involvedObject) => {
    const event = { apiVersion: 'v1', kind: 'Event', metadata: { name: 'e' }, involvedObject };
    expect(nodeOfEvent(event, nodesWith(node('n', 'True', { uid: 'uid-1' })))).toBe(name);
  });
});

describe('kubeletHeartbeat', () => {
  it('R4 is the heartbeat of the condition Ready', () => {
    expect(kubeletHeartbeat(node('n'))).toBe(ago(10));
    expect(kubeletHeartbeat({ ...node('n'), status: {} })).toBeUndefined();
  });
});
