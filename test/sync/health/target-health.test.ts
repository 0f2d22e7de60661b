import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import {
  type ObservedObjects,
  targetHealth,
  unhealthyObjects,
} from '../../../src/sync/health/target-health.ts';
import type { RenderedUnit } from '../../../src/sync/rendered.ts';

function widget(name: string, generation?: number, observedGeneration?: number): KubeObject {
  return {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name, namespace: 'web', ...(generation === undefined ? {} : { generation }) },
    ...(observedGeneration === undefined ? {} : { status: { observedGeneration } }),
  };
}

function unitsWith(...names: readonly string[]): readonly RenderedUnit[] {
  return names.map((name) => ({
    unit: name,
    digest: name,
    objects: [{ object: widget(name), source: {} }],
  }));
}

describe('targetHealth', () => {
  it.each<[name: string, observed: KubeObject | 'absent' | 'unknown', answer: string, reason?: string]>([
    ['every object is healthy', widget('b', 2, 2), 'Settled'],
    ['one object is missing', 'absent', 'Progressing', 'Missing'],
    ['one object cannot be read', 'unknown', 'Unknown', 'Unreadable'],
    [
      'a controller has not observed the cached generation',
      widget('b', 3, 2),
      'Progressing',
      'NotObservedYet',
    ],
  ])('asks about the objects of all units: %s', (_, observed, answer, reason) => {
    const health = targetHealth(unitsWith('a', 'b'), {
      observe: ({ name }) => (name === 'b' ? observed : widget(name, 1, 1)),
      unknownReason: () => undefined,
      staleReason: undefined,
    });
    expect(health.answer).toBe(answer);
    expect(health.answer === 'Settled' ? undefined : health.reason).toBe(reason);
  });

  it.each<[string, KubeObject | 'unknown', string]>([
    ['cannot be read', 'unknown', 'Widget web/a: it cannot be read: list widgets: forbidden'],
    ['is read', widget('a', 1, 1), 'all 1 objects are healthy'],
  ])('gives the reason only of what cannot be read: an object that %s', (_, observed, because) => {
    const health = targetHealth(unitsWith('a'), {
      observe: () => observed,
      unknownReason: () => 'list widgets: forbidden',
      staleReason: undefined,
    });
    expect(health.because).toBe(because);
  });

  it('is Unknown while the cluster view is stale', () => {
    const health = targetHealth(unitsWith('a'), {
      observe: () => widget('a', 1, 1),
      unknownReason: () => undefined,
      staleReason: 'no answer for 70 s',
    });
    expect(health).toMatchObject({ answer: 'Unknown', because: 'no answer for 70 s' });
  });
});

const FULL = { type: 'Stalled', status: 'True', reason: 'NoSpace', message: 'the disk is full' };

function failedWidget(name: string): KubeObject {
  return { ...widget(name, 1), status: { observedGeneration: 1, conditions: [FULL] } };
}

function observedWith(failed: readonly string[], staleReason?: string): ObservedObjects {
  return {
    observe: ({ name }) => (failed.includes(name) ? failedWidget(name) : widget(name, 1, 1)),
    unknownReason: () => undefined,
    staleReason,
  };
}

describe('unhealthyObjects', () => {
  it('names the objects that failed, each with its unit and why, in the order of their names', () => {
    expect(unhealthyObjects(unitsWith('c', 'b', 'a'), observedWith(['c', 'a']))).toEqual(
      ['a', 'c'].map((name) => ({
        object: `example.com/Widget web/${name}`,
        unit: name,
        reason: 'NoSpace',
        message: 'Stalled=True, the disk is full',
      })),
    );
  });

  it('lists at most 20, and none while the cluster view is stale', () => {
    const names = Array.from({ length: 30 }, (_, index) => `w${index}`);
    expect(unhealthyObjects(unitsWith(...names), observedWith(names))).toHaveLength(20);
    expect(unhealthyObjects(unitsWith('a'), observedWith(['a'], 'no answer for 70 s'))).toEqual([]);
  });
});
