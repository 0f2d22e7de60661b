import { describe, expect, it } from 'vitest';
import { guardAbort, hasRebooted } from '../../../../src/controllers/remedyjob/plan/guard.ts';
import { CORDONED, jobMachine, jobNode, later, observation, records, repairJob } from '../jobs.ts';

describe('guardAbort', () => {
  it('names the person first, whatever else has changed', () => {
    const machine = {
      ...jobMachine(),
      spec: { ...jobMachine().spec, hold: { reason: 'mine', scope: 'All' as const } },
    };
    const node = jobNode({ bootID: 'boot-9' });
    expect(guardAbort(observation({ machine, node, rule: 'NoMatch' }))?.reason).toBe('Held');
    expect(guardAbort(observation({ node, rule: 'NoMatch' }))?.reason).toBe('BootChanged');
  });

  it('accepts a Node that reports no boot, and a cordon of somebody else', () => {
    const silent = { ...jobNode(), status: {} };
    const foreign = jobNode({ spec: { unschedulable: true } });
    expect(guardAbort(observation({ node: silent }))).toBeUndefined();
    expect(guardAbort(observation({ node: foreign }))).toBeUndefined();
    expect(guardAbort(observation({ node: jobNode(CORDONED) }))).toBeUndefined();
  });
});

describe('hasRebooted', () => {
  it.each([
    ['s3 Running', false],
    ['s4 Pending', false],
    ['s4 Intended', true],
    ['s4 Failed', true],
  ])('with %s is %s', (steps, expected) => {
    expect(hasRebooted(repairJob({ status: { steps: records(steps) } }))).toBe(expected);
  });

  it('R31 expects another boot from the record of an answer to the provider on', () => {
    const answer = { event: 'local-e-1', answer: 'StartNow', intendedAt: later(0) } as const;
    const steps = [...records('s3 Succeeded', { answer }), ...records('s4 Pending')];
    const job = repairJob({ status: { steps } });
    expect(hasRebooted(job)).toBe(true);
    expect(guardAbort(observation({ job, node: jobNode({ bootID: 'boot-9' }) }))).toBeUndefined();
  });
});
