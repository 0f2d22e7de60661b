import { describe, expect, it } from 'vitest';
import { createFaultsSince } from '../../../src/defender/facts/fault-since.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { ago, condition, NOW, node } from '../../support/builders.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

function nodeWith(conditions: Readonly<Record<string, 'True' | 'False' | 'Unknown'>>): KubeObject {
  const all = Object.entries(conditions).map(([type, status]) => condition(type, status));
  return { ...node('n'), status: { conditions: all } };
}

function first(lastTransitionTime: string): Date | undefined {
  const conditions = [condition('Ready', 'False', { lastTransitionTime })];
  const its = { ...node('n'), status: { conditions } };
  return createFaultsSince(virtualClock()).observe('n', its, true)?.get('Ready');
}

describe('createFaultsSince', () => {
  it.each([
    ['Ready', 'True', false],
    ['Ready', 'False', true],
    ['Ready', 'Unknown', true],
    ['KernelDeadlock', 'True', true],
    ['KernelDeadlock', 'False', false],
    ['DiskPressure', 'Unknown', false],
    ['NetworkUnavailable', 'True', true],
    ['KernelReady', 'True', false],
    ['KernelReady', 'False', true],
    ['StorageHealthy', 'True', false],
    ['DiskUnhealthy', 'True', true],
    ['CniNotReady', 'True', true],
  ] as const)('R21 takes condition %s: %s for a fault: %s', (type, status, isFault) => {
    const faults = createFaultsSince(virtualClock()).observe('n', nodeWith({ [type]: status }), false);
    expect(faults?.has(type) ?? false).toBe(isFault);
  });

  it('R21 measures since when by our own clock, for each condition, until it is over', async () => {
    const clock = virtualClock();
    const since = createFaultsSince(clock);
    const observe = (conditions: Parameters<typeof nodeWith>[0]) => [
      ...(since.observe('n', nodeWith(conditions), false) ?? []),
    ];
    expect(observe({ Ready: 'False' })).toEqual([['Ready', NOW]]);
    await clock.advance(60_000);
    expect(observe({ Ready: 'Unknown', KernelDeadlock: 'True' })).toEqual([
      ['Ready', NOW],
      ['KernelDeadlock', clock.now()],
    ]);
    expect(observe({ Ready: 'True' })).toEqual([]);
    expect(observe({ Ready: 'False' })).toEqual([['Ready', clock.now()]]);
    since.forget('n');
    await clock.advance(1000);
    expect(observe({ Ready: 'False' })).toEqual([['Ready', clock.now()]]);
  });

  it('R21 takes the recorded time for a fault that began before we observed, unless it is in the future', () => {
    expect([ago(3600), ago(-60), 'soon'].map(first)).toEqual([new Date(ago(3600)), NOW, NOW]);
  });

  it('finds nothing for a machine without a Node', () => {
    expect(createFaultsSince(virtualClock()).observe('n', undefined, false)).toBeUndefined();
  });
});
