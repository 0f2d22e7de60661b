import { describe, expect, it } from 'vitest';
import {
  hasGivenBack,
  memberState,
  type ObservedMember,
} from '../../../../src/controllers/componentset/machine/member-state.ts';
import { ago, NOW, node } from '../../../support/builders.ts';
import { GENERATION, grantOf, type MemberParts, OLD, observed, SET } from './members.ts';

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
const STARTS = 'its Node has the start-up taint';

/** With a grant in each entry. */
function permitted(member: ObservedMember, notAfter: string): ObservedMember {
  const grant = { id: 'g', fence: 1, entryDigest: `sha256:${'a'.repeat(64)}`, notAfter };
  const components = member.machine.spec.components.map((entry) => ({ ...entry, grant }));
  return { ...member, machine: { ...member.machine, spec: { ...member.machine.spec, components } } };
}

/** Of a machine whose permission is in its entries alone, while batch `index` is open. */
function stepAt(notAfter: string, index: number): string {
  const openBatch = { ...CONTEXT.openBatch, index };
  const context = { ...CONTEXT, timeoutSeconds: 300, openBatch };
  return memberState(permitted(observed({ report: PROBATION }), notAfter), context).step;
}

describe('memberState', () => {
  it('settles by the report of the agent alone where a Node has never served', () => {
    const taints = [{ key: 'kubenode.dev/not-initialized', effect: 'NoSchedule' }];
    const young = { ...node('m-1', 'False'), spec: { taints } };
    const state = memberState(observed({ startedAgo: 60, node: young }), CONTEXT);
    expect(state).toMatchObject({ step: 'Settled', isEstablished: false, unavailable: STARTS });
    const ready = memberState(observed({ node: { ...node('m-1'), spec: { taints } } }), CONTEXT);
    expect(ready).toMatchObject({ isEstablished: false, unavailable: STARTS });
  });

  it('ROL-11 is out of service while its Node registers again, whatever the risk of its update', () => {
    const taints = [{ key: 'kubenode.dev/not-initialized', effect: 'NoSchedule' }];
    const found = observed({ node: { ...node('m-1'), spec: { taints } } });
    const status = { ...found.machine.status, node: { establishedAt: ago(3600) } };
    const again = { ...found, machine: { ...found.machine, status } } as ObservedMember;
    expect(memberState(again, CONTEXT)).toMatchObject({
      step: 'Settled',
      isEstablished: true,
      unavailable: STARTS,
    });
  });

  it.each<[what: string, parts: MemberParts, unavailable: string | undefined]>([
    ['a settled machine', {}, undefined],
    ['a machine that the set has not touched', { version: 'None' }, undefined],
    ['a machine at an older revision', { version: OLD }, undefined],
    ['a machine in work', { startedAgo: 5, report: PROBATION }, 'kubelet is Probation'],
    ['a machine that failed', { report: ROLLED_BACK }, 'kubelet: no answer'],
    ['a Node that is not Ready', { node: NOT_READY }, 'its Node is not Ready'],
    ['a Node of which nothing is known', { node: UNKNOWN }, 'its Node is Unknown'],
    ['a silent agent', { version: 'None', heardAgo: 41 }, 'its agent is silent'],
    ['a cordoned Node', { node: { ...node('m-1'), spec: { unschedulable: true } } }, 'its Node is cordoned'],
  ])('ROL-11 counts as available, or explains why not: %s', (_what, parts, unavailable) => {
    expect(memberState(observed(parts), CONTEXT).unavailable).toBe(unavailable);
  });

  it.each<[what: string, annotations: Readonly<Record<string, string>>, isCordoned: boolean, owner?: string]>(
    [
      ['of a repair', { 'kubenode.dev/cordoned-by': 'g-9' }, true, 'g-9'],
      ['of a person', {}, true],
      ['that a person has removed', { 'kubenode.dev/cordoned-by': 'g-9' }, false],
      ['of the drain that ends now', { 'kubenode.dev/cordoned-by': 'g-drain' }, true],
    ],
  )(
    'ROL-61 names the grant of a cordon that is not its own: one %s',
    (_what, annotations, isCordoned, owner) => {
      const cordoned = { ...node('m-1', 'True', { annotations }), spec: { unschedulable: isCordoned } };
      const { machine, ...rest } = observed({ node: cordoned });
      const drain = { grant: 'g-drain', state: 'Cordoned', since: ago(5) } as const;
      const status = { conditions: [], ...machine.status, drain };
      expect(memberState({ ...rest, machine: { ...machine, status } }, CONTEXT).cordonedFor).toBe(owner);
    },
  );

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
    const member = permitted(observed({ node: NOT_READY }), ago(60));
    expect(memberState({ ...member, grant: grantOf(5, { holder: job }) }, CONTEXT)).toMatchObject({
      holdsGrant: false,
      grant: { holder: job },
    });
  });

  it('ROL-10 takes a grant that is in the ledger alone for given back, until the agent has read entries without it', () => {
    const unread = observed({ startedAgo: 60, observedGeneration: GENERATION - 1 });
    expect(hasGivenBack(memberState(unread, CONTEXT))).toBe(true);
    expect(hasGivenBack(memberState(permitted(unread, ago(-60)), CONTEXT))).toBe(false);
    expect(hasGivenBack(memberState(observed({ startedAgo: 60, report: PROBATION }), CONTEXT))).toBe(false);
    const { grant: _settled, ...settled } = unread;
    expect(hasGivenBack(memberState(settled, CONTEXT))).toBe(false);
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
      const member = { ...permitted(observed(parts), ago(-60)), grant: grantOf(5, { holder }) };
      const { step, reason } = memberState(member, { ...CONTEXT, timeoutSeconds: 300 });
      return `${step} ${reason}`;
    };
    const hangs = { state: 'Probation', digest: OLD.digest } as const;
    // The batch began 600 seconds ago.
    expect(stepWith({ report: hangs })).toBe('Failed TimedOut');
    expect(stepWith({ report: { ...hangs, since: ago(400) } })).toBe('Failed TimedOut');
    expect(stepWith({ report: { ...hangs, since: ago(200) } })).toBe('InWork Probation');
    // What goes back is in no batch: its time may be over, until its agent reports progress.
    expect(stepWith({ version: OLD, report: hangs })).toBe('InWork Probation');
    expect(stepWith({ version: OLD, report: { ...hangs, since: ago(4) } })).toBe('InWork Probation');
  });

  it('ROL-31 ends a rollback that takes too long since its agent last made progress', () => {
    const holder = { kind: 'MachineComponentSet', name: 'general', revision: 'r-before' } as const;
    const stepSince = (since: string): string => {
      const member = permitted(observed({ version: OLD, report: { ...PROBATION, since } }), ago(-60));
      return memberState({ ...member, grant: grantOf(1000, { holder }) }, CONTEXT).step;
    };
    expect(stepSince(ago(901))).toBe('Failed');
    expect(stepSince(ago(899))).toBe('InWork');
    // Of a report from before the grant.
    expect(stepSince(ago(1100))).toBe('InWork');
  });

  it('ROL-31 takes the end of its permission for the start while the ledger does not show its grant', () => {
    // The batch began 600 seconds ago, and this machine was added to it now.
    expect(stepAt(ago(-300), 1)).toBe('InWork');
    expect(stepAt(ago(299), 1)).toBe('InWork');
    expect(stepAt(ago(301), 1)).toBe('Failed');
    // Its batch is open no more.
    expect(stepAt(ago(301), 2)).toBe('Failed');
  });

  it.each<[what: string, of: Parameters<typeof grantOf>[1]]>([
    ['was settled', { state: 'Settled' }],
    ['is from before the one in its entries', { fence: 0 }],
  ])('ROL-31 does not measure the time of an update from a grant that %s', (_what, of) => {
    const member = permitted(observed({ report: PROBATION, batch: 2 }), ago(-300));
    expect(memberState({ ...member, grant: grantOf(5000, of) }, CONTEXT).step).toBe('InWork');
    expect(memberState({ ...member, grant: grantOf(5000) }, CONTEXT).step).toBe('Failed');
  });

  it('ROL-06 takes a grant in an entry for one of the set, also when the ledger does not show it yet', () => {
    expect(memberState(permitted(observed(), ago(-60)), CONTEXT).holdsGrant).toBe(true);
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
