import { describe, expect, it } from 'vitest';
import { DENIALS } from '../../../../src/api/deny-reasons.ts';
import type { DefenderPolicySpec } from '../../../../src/api/generated/types.ts';
import type { Denial, GrantAsk } from '../../../../src/api/grants.ts';
import { answersTo, withAnswers, withoutAnswers } from '../../../../src/cli/plan/rollouts/defender.ts';
import type { AskedRollout } from '../../../../src/cli/plan/rollouts/preview.ts';
import { preparePolicies } from '../../../../src/defender/policies/prepare.ts';
import type { PlannedRollout } from '../../../../src/sync/preview/rollouts.ts';
import { ask, fleetFacts, ledgerSpec, machines, NOW, policy } from '../../../defender/builders.ts';

const TWO = [{ name: 'l', per: 'Cluster', actions: [], max: 2 }] as const;

function update(set: string, machine: string): GrantAsk {
  const holder = {
    kind: 'MachineComponentSet',
    name: set,
    origin: `MachineComponentSet/${set}`,
    revision: 'r-1',
  } as const;
  return ask({ holder, machine, action: 'UpdateComponent', risk: 'Pod', started: true });
}

function asked(set: string, ...names: readonly string[]): AskedRollout {
  const none = { count: 0, class: 'None', names: [] };
  const more = { batches: 0, machines: 0 };
  const rollout = {
    set,
    changes: [],
    selected: 5,
    batches: [],
    more,
    joining: none,
    class: 'Drain',
    drains: 0,
  };
  return { rollout: { ...rollout, grants: names.length }, asks: names.map((name) => update(set, name)) };
}

function answered(
  spec: Partial<DefenderPolicySpec>,
  ...planned: readonly AskedRollout[]
): readonly PlannedRollout['defender'][] {
  const policies = [policy(spec)];
  const facts = fleetFacts(machines(5), policies);
  const input = { ledger: ledgerSpec(), policies: preparePolicies(policies), facts, now: NOW };
  return withAnswers(planned, answersTo(planned, input)).map(({ defender }) => defender);
}

describe('the answers of the Defender in a plan', () => {
  it('ROL-60 counts what a set would be granted against the limits for the machines after it', () => {
    const message = 'cluster: 2 out of service or in work, and at most 2 allowed by limit l';
    const denied = (...names: readonly string[]): object => ({
      reason: 'ConcurrencyCluster',
      message,
      unblock: expect.stringContaining('kubenode defender status') as string,
      machines: { count: names.length, names },
    });
    expect(
      answered({ concurrency: [...TWO] }, asked('a', 'm-1', 'm-2', 'm-3', 'm-4'), asked('b', 'm-5')),
    ).toEqual([
      { state: 'Known', granted: { count: 2, names: ['m-1', 'm-2'] }, denied: [denied('m-3', 'm-4')] },
      { state: 'Known', granted: { count: 0, names: [] }, denied: [denied('m-5')] },
    ]);
  });

  it('ROL-60 has the moment at which time alone ends a denial', () => {
    const until = new Date(+NOW + 3_600_000).toISOString();
    const freezes = [{ name: 'sale', from: NOW.toISOString(), until, reason: 'the sale', risks: [] }];
    const [found] = answered({ freezes }, asked('a', 'm-1'));
    expect(found).toMatchObject({
      denied: [{ reason: 'Freeze', until, unblock: DENIALS.Freeze.hint, machines: { names: ['m-1'] } }],
    });
  });

  it('leaves out the Defender of a set that would not ask it, and explains what could not be read', () => {
    expect(answered({}, asked('a'), asked('b', 'm-1'))).toEqual([
      undefined,
      { state: 'Known', granted: { count: 1, names: ['m-1'] }, denied: [] },
    ]);
    const found = withoutAnswers([asked('a'), asked('b', 'm-1')], 'pods is forbidden');
    expect(found.map(({ defender }) => defender)).toEqual([
      undefined,
      { state: 'Unknown', because: 'pods is forbidden' },
    ]);
  });

  it('lists apart the machines that are denied for another reason, by another limit or until another moment', () => {
    const basis = { granted: false, also: [], message: 'until the sale is over' } as const;
    const denials: readonly Denial[] = [
      { ...basis, reason: 'Freeze', retryAt: NOW },
      { ...basis, reason: 'Freeze', retryAt: NOW },
      { ...basis, reason: 'Freeze' },
      { ...basis, reason: 'Freeze', message: 'stocktaking' },
      { ...basis, reason: 'BlockedByAlert' },
    ];
    const asks = denials.map((_, index) => update('a', `m-${index}`));
    const planned = [{ ...asked('a'), asks }];
    const answers = denials.map((denial, index) => ({ ask: update('a', `m-${index}`), denial }));
    const [found] = withAnswers(planned, answers).map(({ defender }) => defender);
    const denied = found?.state === 'Known' ? found.denied.map(({ machines: { names } }) => names) : [];
    expect(denied).toEqual([['m-0', 'm-1'], ['m-2'], ['m-3'], ['m-4']]);
  });
});
