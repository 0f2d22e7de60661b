import { describe, expect, it } from 'vitest';
import { memberState } from '../../../../src/controllers/componentset/machine/member-state.ts';
import { ago, NOW, node } from '../../../support/builders.ts';
import { grantOf, type MemberParts, OLD, observed, SET } from './members.ts';

const CONTEXT = {
  set: SET,
  components: new Set(['kubelet', 'runc']),
  timeoutSeconds: 900,
  openBatch: { revision: 'r-new', index: 1, startedAt: new Date(ago(600)) },
  now: NOW,
};

const PROBATION = { currentRef: OLD.componentRef, digest: OLD.digest, state: 'Probation' } as const;
const ROLLED_BACK = { ...PROBATION, state: 'RolledBack', error: { message: 'no answer' } } as const;
const NOT_READY = node('m-1', 'False');
const UNKNOWN = node('m-1', 'Unknown');

describe('memberState', () => {
  it('settles by the report of the agent alone where a Node has never served', () => {
    const taints = [{ key: 'kubenode.dev/not-initialized', effect: 'NoSchedule' }];
    const young = { ...node('m-1', 'False'), spec: { taints } };
    const state = memberState(observed({ startedAgo: 60, node: young }), CONTEXT);
    expect(state).toMatchObject({ step: 'Settled', isEstablished: false, serves: false });
    const ready = memberState(observed({ node: { ...node('m-1'), spec: { taints } } }), CONTEXT);
    expect(ready).toMatchObject({ isEstablished: false, serves: false });
  });

  it.each<[what: string, parts: MemberParts, serves: boolean]>([
    ['a settled machine', {}, true],
    ['a machine that the set has not touched', { version: 'None' }, true],
    ['a machine at an older revision', { version: OLD }, true],
    ['a machine in work', { startedAgo: 5, report: PROBATION }, false],
    ['a machine that failed', { report: ROLLED_BACK }, false],
    ['a Node that is not Ready', { node: NOT_READY }, false],
    ['a Node of which nothing is known', { node: UNKNOWN }, false],
    ['a silent agent', { version: 'None', heardAgo: 41 }, false],
    ['a cordoned Node', { node: { ...node('m-1'), spec: { unschedulable: true } } }, false],
  ])('ROL-11 counts as serving or not: %s', (_what, parts, serves) => {
    expect(memberState(observed(parts), CONTEXT).serves).toBe(serves);
  });

  it('reads what the set assigned, and the grant that it holds', () => {
    expect(memberState(observed({ startedAgo: 5 }), CONTEXT)).toMatchObject({
      name: 'm-1',
      revision: 'r-new',
      batch: 1,
      pinned: [],
      holdsGrant: true,
      grant: { id: 'g-1-1' },
    });
    expect(memberState(observed({ version: OLD }), CONTEXT)).toMatchObject({
      revision: 'r-old',
      holdsGrant: false,
    });
  });

  it('ROL-10 takes neither a settled grant nor that of another holder for one of the set', () => {
    const job = { kind: 'RemedyOperationJob', name: 'job-1' } as const;
    const busy = memberState({ ...observed(), grant: grantOf(5, { holder: job }) }, CONTEXT);
    expect(busy).toMatchObject({ holdsGrant: false, step: 'Settled', grant: { holder: job } });
    const other = { kind: 'MachineComponentSet', name: 'other' } as const;
    const shared = memberState({ ...observed(), grant: grantOf(5, { holder: other }) }, CONTEXT);
    expect(shared.holdsGrant).toBe(false);
    const settled = memberState({ ...observed(), grant: grantOf(5, { state: 'Settled' }) }, CONTEXT);
    expect(settled.holdsGrant).toBe(false);
    expect(settled).not.toHaveProperty('grant');
  });

  it('ROL-10 takes the grant of a repair for none of the set, also when its own is still in the entries', () => {
    const job = { kind: 'RemedyOperationJob', name: 'job-1' } as const;
    const member = observed({ node: NOT_READY });
    const grant = { id: 'g', fence: 1, entryDigest: `sha256:${'a'.repeat(64)}`, notAfter: ago(60) };
    const components = member.machine.spec.components.map((entry) => ({ ...entry, grant }));
    const machine = { ...member.machine, spec: { ...member.machine.spec, components } };
    expect(memberState({ ...member, machine, grant: grantOf(5, { holder: job }) }, CONTEXT)).toMatchObject({
      holdsGrant: false,
      grant: { holder: job },
    });
  });

  it('ROL-10 never settles a grant whose write it has not observed', () => {
    const granted = memberState(observed({ version: OLD, startedAgo: 5 }), CONTEXT);
    expect(granted).toMatchObject({ step: 'Settled', holdsGrant: false });
    expect(granted).not.toHaveProperty('grant');
    expect(memberState(observed({ version: 'None', startedAgo: 5 }), CONTEXT)).toMatchObject({
      holdsGrant: false,
    });
  });

  it.each<[asked: readonly string[], holdsGrant: boolean]>([
    [['r-new', 'r-old'], false],
    [['r-other', 'r-old'], true],
  ])('ROL-10 settles a grant that was never written once the set asks only for %s', (asked, holdsGrant) => {
    const context = { ...CONTEXT, asked: new Set(asked) };
    const granted = memberState(observed({ version: OLD, startedAgo: 5 }), context);
    expect(granted).toMatchObject({ step: 'Settled', holdsGrant });
    const unassigned = memberState(observed({ version: 'None', startedAgo: 5 }), context);
    expect(unassigned).toMatchObject({ step: 'Unassigned', holdsGrant: false });
  });

  it('ROL-31 has a time limit also under the grant of the update that it replaced', () => {
    const holder = { kind: 'MachineComponentSet', name: 'general', revision: 'r-before' } as const;
    const stepWith = (parts: MemberParts): string => {
      const grant = grantOf(5, { holder });
      const member = observed(parts);
      const components = member.machine.spec.components.map((entry) => ({ ...entry, grant: inEntry }));
      const machine = { ...member.machine, spec: { ...member.machine.spec, components } };
      const { step, reason } = memberState(
        { ...member, machine, grant },
        { ...CONTEXT, timeoutSeconds: 300 },
      );
      return `${step} ${reason}`;
    };
    const inEntry = { id: 'g-1-1', fence: 1, entryDigest: `sha256:${'a'.repeat(64)}`, notAfter: ago(-60) };
    const hangs = { state: 'Probation', digest: OLD.digest } as const;
    // The batch began 600 seconds ago.
    expect(stepWith({ report: hangs })).toBe('Failed TimedOut');
    expect(stepWith({ report: { ...hangs, since: ago(400) } })).toBe('Failed TimedOut');
    expect(stepWith({ report: { ...hangs, since: ago(200) } })).toBe('InWork Probation');
    // What goes back is in no batch: its time may be over.
    expect(stepWith({ version: OLD, report: hangs })).toBe('InWork Probation');
  });

  it('ROL-06 takes a grant in an entry for one of the set, also when the ledger does not show it yet', () => {
    const member = observed();
    const grant = { id: 'g', fence: 1, entryDigest: `sha256:${'a'.repeat(64)}`, notAfter: ago(-60) };
    const components = member.machine.spec.components.map((entry) => ({ ...entry, grant }));
    const machine = { ...member.machine, spec: { ...member.machine.spec, components } };
    expect(memberState({ ...member, machine }, CONTEXT).holdsGrant).toBe(true);
  });

  it('ROL-06 names the pins, and takes no entry of theirs for one of the set', () => {
    expect(memberState(observed({ pins: ['kubelet'] }), CONTEXT)).toMatchObject({
      pinned: ['kubelet'],
      step: 'Unassigned',
    });
  });

  it('ROL-06 does not name pins of components that the set does not have', () => {
    const context = { ...CONTEXT, components: new Set(['runc']) };
    expect(memberState(observed({ pins: ['kubelet'] }), context).pinned).toEqual([]);
  });

  it('names the hold of a person, until it ends', () => {
    const [held, released] = [ago(-60), ago(60)].map((until) =>
      memberState(observed({ annotations: { 'kubenode.dev/hold': `${until}; debugging` } }), CONTEXT),
    );
    expect(held?.hold).toMatchObject({ scope: 'All', reason: 'debugging' });
    expect(released).not.toHaveProperty('hold');
  });
});
