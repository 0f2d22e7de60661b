import { describe, expect, it } from 'vitest';
import type { DefenderPolicy } from '../../../../src/api/generated/types.ts';
import { createCapacityView } from '../../../../src/defender/facts/signs/capacity-view.ts';
import { createStore } from '../../../../src/kube/cache/store.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { policy } from '../../builders.ts';
import { nodeOf, podOf } from '../../capacity/builders.ts';

const ASKED = { simulateScheduling: true, minFreePercent: {} };

function bed() {
  const policies = createStore<DefenderPolicy>({ log: memoryLog() });
  const nodes = createStore({ log: memoryLog() });
  const pods = createStore({ log: memoryLog() });
  const state = { ageMs: 0, running: 0 };
  const view = createCapacityView({
    policies,
    nodes,
    open: () => ({
      store: pods,
      reflector: {
        async run(signal) {
          state.running += 1;
          signal.addEventListener('abort', () => void (state.running -= 1));
          await Promise.resolve();
        },
        synced: async () => await Promise.resolve(),
        freshness: () => ({
          synced: true,
          ageMs: state.ageMs,
          consecutiveFailures: 0,
          lastContactAt: undefined,
          error: undefined,
        }),
      },
    }),
  });
  return { policies, nodes, pods, state, view };
}

function version(resourceVersion: string): { namespace: string; name: string; resourceVersion: string } {
  return { namespace: 'web', name: 'x', resourceVersion };
}

describe('the view of all Pods', () => {
  it('R28 is open while a policy asks for capacity, and closed otherwise', () => {
    const { policies, pods, state, view } = bed();
    pods.replace([]);
    policies.put(policy());
    expect([state.running, view.current()]).toEqual([0, undefined]);
    policies.put(policy({ capacity: ASKED }, 'other'));
    expect(state.running).toBe(1);
    expect(view.current()).toBeDefined();
    policies.remove(policy({}, 'other'));
    expect([state.running, view.current()]).toEqual([0, undefined]);
  });

  it('R28 is unknown until the Pods are listed, and when nothing is heard of them', () => {
    const { policies, pods, state, view } = bed();
    policies.put(policy({ capacity: ASKED }));
    expect(view.current()).toBeUndefined();
    pods.replace([]);
    expect(view.current()).toBeDefined();
    state.ageMs = 150_001;
    expect(view.current()).toBeUndefined();
    view.close();
    expect(state.running).toBe(0);
  });

  it('R28 forgets a Pod that ended or that a gate keeps from nodes, and a Node that went', () => {
    const { policies, nodes, pods, view } = bed();
    policies.put(policy({ capacity: ASKED }));
    pods.replace([{ ...podOf('x', 'a', { cpu: '1' }), metadata: version('1') }]);
    nodes.replace([nodeOf('a')]);
    expect(view.current()?.slot('a')?.used.get('cpu')).toBe(1000);
    const ended = {
      ...podOf('x', 'a', { cpu: '1' }),
      metadata: version('2'),
      status: { phase: 'Succeeded' },
    };
    pods.put(ended);
    expect(view.current()?.slot('a')?.used.get('cpu')).toBe(0);
    const gated = podOf('x', 'a', { cpu: '1' }, { schedulingGates: [{ name: 'queue' }] });
    pods.put({ ...gated, metadata: version('3') });
    expect(view.current()?.slot('a')?.used.get('cpu')).toBe(0);
    nodes.remove(nodeOf('a'));
    expect(view.current()?.slot('a')).toBeUndefined();
  });
});
