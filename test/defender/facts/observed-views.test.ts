import { describe, expect, it } from 'vitest';
import { createCallWindow } from '../../../src/defender/facts/call-window.ts';
import { blockingPodsOn, isComplete, viewFacts } from '../../../src/defender/facts/observed-views.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { completeViews, type TestViews, testViews } from './observed.ts';

const KINDS = Object.keys(testViews()) as readonly (keyof TestViews)[];

function pod(phase: string): KubeObject {
  const metadata = { name: 'train', namespace: 'ml', labels: { 'kubenode.dev/block': 'true' } };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { nodeName: 'm-1' }, status: { phase } };
}

describe('the views of the Defender', () => {
  it.each(KINDS)('are incomplete until %s are listed', (kind) => {
    const views = testViews();
    for (const [name, { store }] of Object.entries(views)) if (name !== kind) store.replace([]);
    expect(isComplete(views)).toBe(false);
    expect(viewFacts(views, createCallWindow(virtualClock())).ageSeconds).toBeUndefined();
    completeViews(views);
    expect(isComplete(views)).toBe(true);
  });

  it.each(KINDS)('are as old as %s, when that view is the oldest', (kind) => {
    const views = testViews();
    completeViews(views);
    views[kind].ageMs = 5000;
    expect(viewFacts(views, createCallWindow(virtualClock())).ageSeconds).toBe(5);
  });

  it('are complete without Clusters in a process that reads none', () => {
    const { clusters: _, ...views } = testViews();
    for (const { store } of Object.values(views)) store.replace([]);
    expect(isComplete(views)).toBe(true);
  });

  it.each([
    ['Running', { 'kubenode.dev/block=true': 'ml/train' }],
    ['Succeeded', {}],
    ['Failed', {}],
  ])('know whether a Pod that is %s blocks its node', (phase, blocking) => {
    const views = testViews();
    expect(blockingPodsOn(views, 'm-1')).toBeUndefined();
    views.pods.store.replace([pod(phase)]);
    expect([blockingPodsOn(views, 'm-1'), blockingPodsOn(views, 'm-2')]).toEqual([blocking, {}]);
  });
});
