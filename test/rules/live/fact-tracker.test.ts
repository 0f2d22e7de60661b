import { describe, expect, it } from 'vitest';
import { ALL_TOPICS, type FactChange } from '../../../src/rules/live/fact-changes.ts';
import { createRuleIndex } from '../../../src/rules/live/rule-index.ts';
import { ago } from '../../support/builders.ts';
import { factsBed } from './facts-bed.ts';
import { hungFor, ruleOf } from './rules-bed.ts';

const READY = { type: 'Ready' };

describe('the tracker of facts', () => {
  it('reports every fact of a machine that appears, once for its Node and once for its Machine', () => {
    const bed = factsBed();
    bed.node({ Ready: 'True' });
    bed.machine();
    const all = bed.changes.filter(({ topics }) => topics === ALL_TOPICS);
    expect(all.map(({ machine }) => machine)).toEqual(['n', 'n']);
  });

  it('reports nothing to a listener that left, and nothing once it is closed', () => {
    const bed = factsBed();
    const heard: FactChange[] = [];
    const leave = bed.live().onChange((change) => heard.push(change));
    bed.event('a', { reason: 'TaskHung', lastTimestamp: ago(0) });
    leave();
    bed.event('b', { reason: 'TaskHung', lastTimestamp: ago(0) });
    expect(heard).toHaveLength(1);
    bed.changes.length = 0;
    bed.live().close();
    bed.machine();
    bed.node({ Ready: 'True' });
    bed.heartbeat();
    expect(bed.changes).toEqual([]);
  });

  it('R4 takes no other Lease for a heartbeat of the agent', () => {
    const bed = factsBed();
    bed.machine();
    bed.renewNodeLease();
    expect(bed.why('disk', { filesystem: 'imagefs' })).toBe('nothing heard of the agent yet');
  });

  it('R4 concerns no rule with a Lease that a kubelet renews in time, and those with a shorter age when it was silent', async () => {
    const bed = factsBed();
    const rule = ruleOf(hungFor(60), { condition: 40 });
    const rules = createRuleIndex(
      new Map([
        ['patient', ruleOf(hungFor(60))],
        ['strict', rule],
      ]),
    );
    bed.machine();
    bed.node({ Ready: 'True' });
    bed.renewNodeLease();
    bed.changes.length = 0;
    const affected = (): readonly string[] => bed.changes.splice(0).flatMap((each) => rules.affected(each));
    for (let renewals = 0; renewals < 20; renewals += 1) {
      await bed.clock.advance(10_000);
      bed.renewNodeLease();
    }
    expect([bed.changes.length, affected()]).toEqual([20, []]);
    expect(bed.read('condition', READY, { seconds: 40 })).toMatchObject({ status: 'True' });
    await bed.clock.advance(41_000);
    expect(bed.read('condition', READY, { seconds: 40 })).toEqual({});
    expect(affected()).toEqual([]);
    bed.renewNodeLease();
    expect(affected()).toEqual(['strict']);
    expect(bed.read('condition', READY, { seconds: 40 })).toMatchObject({ status: 'True' });
  });

  it('R4 knows what it observed of Events only from when their list was complete', async () => {
    const bed = factsBed();
    bed.silence('events', Infinity);
    bed.read('event', { reason: 'TaskHung', windowSeconds: 60 });
    await bed.clock.advance(1_000_000);
    bed.silence('events', undefined);
    expect(bed.why('event', { reason: 'TaskHung', windowSeconds: 4000 })).toBe(
      'Events are known for the last 3600 s only',
    );
  });
});
