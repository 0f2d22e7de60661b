/** What a set shows for each kind of limit that a DefenderPolicy may have. */
import { describe, expect, it } from 'vitest';
import { DENY_REASONS, type DenyReason } from '../../../../src/api/deny-reasons.ts';
import type { DenialDetails } from '../../../../src/defender/decide.ts';
import { decideScene, type Scene } from '../../../defender/builders.ts';
import { FIXTURES, OF_LATER_VERSIONS, OF_THE_LEDGER } from '../../../defender/fixtures.ts';
import { member } from '../rollout/rollout-input.ts';
import { read, statusOf } from './set-report.ts';

/** Limits of repairs alone. */
const OF_REPAIRS: readonly DenyReason[] = [
  'NodeTooYoung',
  'NodeInterval',
  'NodeJobLimit',
  'NodeRebootLimit',
  'Lemon',
  'SecondVantageMissing',
  'SecondVantageDisagrees',
  'RuleWave',
];
/** What is so whatever the policies are. */
const WITHOUT_POLICY: readonly DenyReason[] = [
  'FleetCause',
  'FleetLimit',
  'ClusterPaused',
  'HumanHold',
  'NodeExcluded',
  'PolicyMissing',
  'FactUnknown',
  'LedgerFull',
  'LedgerRecovering',
  'AskInvalid',
  'AskStale',
  'RevisionUnknown',
  'NodeIdentityChanged',
  'ZonalShift',
  'NodeBusy',
];
/** The last one, and machines by their names. */
const IN_WORDS: ReadonlySet<DenyReason> = new Set(['LastReadyOfPool', 'ControlPlaneBusy']);
const SKIPPED = new Set([...OF_REPAIRS, ...WITHOUT_POLICY]);
const BY_POLICY = FIXTURES.filter(({ reason }) => !SKIPPED.has(reason));

/** The same, asked by a set for m-1 instead of by a repair. */
function ofRollout({ policies, ledger, ask, ...rest }: Scene): Scene {
  const holder = {
    kind: 'MachineComponentSet',
    name: 'general',
    origin: 'MachineComponentSet/general',
  } as const;
  return {
    ...rest,
    ...(policies ? { policies: asUpdate(policies) } : {}),
    ...(ledger ? { ledger: asUpdate(ledger) } : {}),
    ask: {
      holder: { ...holder, revision: 'r-1' },
      action: 'UpdateComponent',
      ...(ask?.brings ? { brings: ask.brings } : {}),
    },
  };
}

function asUpdate<T>(value: T): T {
  const text = JSON.stringify(value)
    .replaceAll('"Reboot"', '"UpdateComponent"')
    .replaceAll('"m-1-job"', '"general"')
    .replaceAll('NodeRemedier/hang', 'MachineComponentSet/general');
  return JSON.parse(text) as T;
}

function denialOf(scene: Scene): DenialDetails {
  const decision = decideScene(ofRollout(scene));
  if (decision.permitted) throw new Error('was permitted');
  return decision;
}

describe('a set that a DefenderPolicy denies', () => {
  it.each(BY_POLICY)('ROL-12 shows policy, number and limit: $reason', ({ reason, scene, because }) => {
    const denial = denialOf(scene);
    expect(denial.reason).toBe(reason);
    const denials = [{ machine: 'm-1', denial: { ...denial, granted: false as const } }];
    const status = statusOf({ members: [member('m-1')], denials });
    const text = because
      .slice(because.indexOf(': ') + 2)
      .replace('Reboot', 'UpdateComponent')
      .replace('NodeRemedier/hang', 'MachineComponentSet/general')
      .replace('RemedyOperationJob m-1-job', 'MachineComponentSet general');
    expect(status.waiting).toMatchObject({
      reason: 'GrantDenied',
      blocker: { kind: 'DefenderPolicy', name: 'fleet-default' },
      message: `m-1: ${reason}: ${text} (DefenderPolicy fleet-default)`,
    });
    expect(read(status, 'Progressing')).toBe('False GrantDenied');
    expect(IN_WORDS.has(reason) ? [] : numbersMissing(text, denial)).toEqual([]);
  });

  it.each(['FleetLimit', 'FleetCause'] as const)(
    'ROL-12 names the allowance of the hub where it denies: %s',
    (reason) => {
      const scene = FIXTURES.find((each) => each.reason === reason)?.scene ?? {};
      const denials = [{ machine: 'm-1', denial: { ...denialOf(scene), granted: false as const } }];
      expect(statusOf({ members: [member('m-1')], denials }).waiting).toMatchObject({
        reason: 'GrantDenied',
        blocker: { kind: 'FleetAllowance', name: 'default' },
      });
    },
  );

  it('ROL-12 has a row for each reason that a policy of this version may give', () => {
    const known = new Set<DenyReason>([
      ...BY_POLICY.map(({ reason }) => reason),
      ...SKIPPED,
      ...OF_THE_LEDGER,
      ...OF_LATER_VERSIONS,
    ]);
    expect(DENY_REASONS.filter((reason) => !known.has(reason))).toEqual([]);
  });

  it('ROL-12 is not denied by what limits repairs alone', () => {
    const repairs = FIXTURES.filter(({ reason }) => OF_REPAIRS.includes(reason));
    expect(repairs.map(({ scene }) => decideScene(ofRollout(scene)).permitted)).toEqual(
      repairs.map(() => true),
    );
  });
});

/** Of what is counted and what is allowed, each once. */
function numbersMissing(text: string, { used, limit }: DenialDetails): readonly number[] {
  const found = text.match(/\d+/g)?.map(Number) ?? [];
  return [used, limit].filter((each) => {
    if (each === undefined) return false;
    const index = found.indexOf(each);
    if (index !== -1) found.splice(index, 1);
    return index === -1;
  }) as number[];
}
