import { describe, expect, it } from 'vitest';
import type { Condition } from '../../src/api/generated/types.ts';
import type { ContextEvent } from '../../src/kube/controller/reconcile-context.ts';
import { createMetrics } from '../../src/kube/process/metrics.ts';
import { registerStalledObjects, tellStalled } from '../../src/rollout/stalled.ts';
import { condition, machine } from '../support/builders.ts';

const STALLED = condition('Stalled', 'True', { reason: 'GrantDenied', message: 'since 12:00: limit many' });
const OTHER = condition('Stalled', 'True', { reason: 'HeldAll', message: 'held' });
const FINE = condition('Stalled', 'False', { reason: 'AsWanted' });

function eventsOf(before: readonly Condition[], after: readonly Condition[]): readonly ContextEvent[] {
  const events: ContextEvent[] = [];
  const context = { event: (_about: unknown, event: ContextEvent) => void events.push(event) };
  tellStalled(machine('m-1', { status: { conditions: before } }), { conditions: after }, 'Machine', context);
  return events;
}

describe('tellStalled', () => {
  it.each<[what: string, before: readonly Condition[], after: readonly Condition[], events: number]>([
    ['when it begins', [FINE], [STALLED], 1],
    ['when it begins on an object without conditions', [], [STALLED], 1],
    ['when the reason changes', [OTHER], [STALLED], 1],
    ['not while it stays the same', [STALLED], [{ ...STALLED, message: 'still' }], 0],
    ['not when it ends', [STALLED], [FINE], 0],
    ['not where nothing is stalled', [FINE], [FINE], 0],
  ])('MAC-04 tells people that an object waits for them %s', (_what, before, after, events) => {
    expect(eventsOf(before, after)).toHaveLength(events);
  });

  it('MAC-04 names in the Event why, and since when', () => {
    expect(eventsOf([], [STALLED])).toEqual([
      {
        type: 'Warning',
        reason: 'MachineStalled',
        action: 'Wait',
        note: 'GrantDenied: since 12:00: limit many',
      },
    ]);
  });
});

describe('registerStalledObjects', () => {
  it('MAC-04 counts the objects that wait for a person, by kind and reason', async () => {
    const machines = [[STALLED], [STALLED], [OTHER], [FINE], []].map((conditions, index) =>
      machine(`m-${index}`, { status: { conditions } }),
    );
    const metrics = createMetrics();
    const views = { Machine: { store: { list: () => machines } } };
    registerStalledObjects(metrics, views, ['Machine', 'MachineSet']);
    const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('kubenode_stalled'));
    expect(lines).toEqual([
      'kubenode_stalled_objects{kind="Machine",reason="GrantDenied"} 2',
      'kubenode_stalled_objects{kind="Machine",reason="HeldAll"} 1',
    ]);
  });
});
