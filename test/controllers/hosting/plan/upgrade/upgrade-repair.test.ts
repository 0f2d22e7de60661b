/** A change whose status was lost, in the middle of a rotation of the authorities, which starts members again itself. */
import { describe, expect, it } from 'vitest';
import type {
  RotationPhase,
  RotationReport,
} from '../../../../../src/controllers/hosting/drivers/rotation.ts';
import { planPlaneUpgrade } from '../../../../../src/controllers/hosting/plan/upgrade/upgrade.ts';
import { decisionText, OLD_VERSION } from '../../../../support/hosting/objects.ts';
import { type UpgradeParts, upgradeInput } from '../../../../support/hosting/upgrades.ts';

const BACK = { version: OLD_VERSION };
const TRIAL = {
  etcd: 'new',
  'kube-apiserver': 'emulating',
  'kube-controller-manager': 'emulating',
  'kube-scheduler': 'emulating',
} as const;
const OUTDATED = { 'kube-apiserver': { isOutdated: true } };
const BECAUSE = 'members differ from what is settled, and no change is recorded';

function rotating(phase: RotationPhase, behind: readonly string[]): { readonly rotation: RotationReport } {
  const hasIssued = phase !== 'TrustBoth';
  const state = { isApplied: true, isEnding: false, isSigned: true, hasIssued, proofs: [] };
  return { rotation: { id: '2026', phase, behind, ...state } };
}

function plan(parts: UpgradeParts): string {
  const decision = planPlaneUpgrade(upgradeInput(parts));
  const step = decision?.act?.type === 'RecordStep' ? ` ${decision.act.upgrade.step}` : '';
  return decision ? decisionText(decision).replace('RecordStep', `Record${step}`) : 'nothing';
}

describe('members that differ from what is settled while the authorities are rotated', () => {
  it.each<[what: string, parts: UpgradeParts, expected: string]>([
    [
      'no rotation, and one is outdated',
      { settled: 'new', but: OUTDATED },
      `Record PointOfNoReturn: ${BECAUSE}`,
    ],
    [
      'the outdated one is started again by the rotation',
      { settled: 'new', but: OUTDATED, plane: rotating('IssueNew', ['kube-apiserver']) },
      'nothing',
    ],
    [
      'the outdated one of several is started again by the rotation',
      {
        settled: 'new',
        but: { etcd: { isOutdated: true } },
        plane: rotating('TrustBoth', ['etcd', 'kube-apiserver']),
      },
      'nothing',
    ],
    [
      'the rotation starts none again',
      { settled: 'new', but: OUTDATED, plane: rotating('IssueNew', []) },
      `Record PointOfNoReturn: ${BECAUSE}`,
    ],
    [
      'the rotation starts another one again',
      { settled: 'new', but: OUTDATED, plane: rotating('IssueNew', ['kube-scheduler']) },
      `Record PointOfNoReturn: ${BECAUSE}`,
    ],
    [
      'the rotation is over',
      { settled: 'new', but: OUTDATED, plane: rotating('Completed', ['kube-apiserver']) },
      `Record PointOfNoReturn: ${BECAUSE}`,
    ],
    [
      'the one that is started again runs another version',
      {
        runs: { 'kube-apiserver': 'emulating' },
        hosted: BACK,
        plane: rotating('TrustBoth', ['kube-apiserver']),
      },
      `Record RollingBack: ${BECAUSE}`,
    ],
    [
      'that one and another one run another version',
      {
        runs: { etcd: 'new', 'kube-apiserver': 'emulating' },
        hosted: BACK,
        plane: rotating('IssueNew', ['kube-apiserver']),
      },
      `Record RollingBack: ${BECAUSE}`,
    ],
    [
      'all run another version, and none is started again',
      { runs: TRIAL, hosted: BACK, plane: rotating('IssueNew', []) },
      `Record RollingBack: ${BECAUSE}`,
    ],
    [
      'the spec differs, and the outdated one is started again',
      { but: OUTDATED, plane: rotating('IssueNew', ['kube-apiserver']) },
      'nothing',
    ],
    [
      'another one than that which is started again has other flags',
      {
        settled: 'new',
        runs: { 'kube-scheduler': 'emulating' },
        plane: rotating('IssueNew', ['kube-apiserver']),
      },
      `Record PointOfNoReturn: ${BECAUSE}`,
    ],
  ])('HOS-22 get what is settled, but where the rotation gives it to them: %s', (_, parts, expected) => {
    expect(plan(parts)).toBe(expected);
  });
});
