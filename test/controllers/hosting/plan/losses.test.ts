import { describe, expect, it } from 'vitest';
import type { RotationPhase } from '../../../../src/controllers/hosting/drivers/rotation.ts';
import { planLosses } from '../../../../src/controllers/hosting/plan/losses.ts';
import { ago, NOW } from '../../../support/builders.ts';
import { severalMembers } from '../../../support/hosting/etcd.ts';
import { HOSTED, hostingInput, type InputParts, NOTHING } from '../../../support/hosting/objects.ts';

const WAS_READY = { status: { conditions: [], hosted: { readyAt: ago(60) } } };
const IN_PODS = { place: 'Namespace', where: 'namespace kn-ci' } as const;
const LOST = [
  'etcd-pki/ca.pem is missing or damaged',
  'clusters/ci/pki/sa.key is not the key that it was made with',
];

function text(parts: InputParts): string {
  const { wait } = planLosses(hostingInput(parts)) ?? {};
  return wait ? `${wait.isStalled} ${wait.reason} of ${wait.blocker.name}: ${wait.message}` : 'nothing';
}

describe('what is missing from a control plane', () => {
  it.each<readonly [string, InputParts, string | RegExp]>([
    ['nothing is lost', WAS_READY, 'nothing'],
    ['it is not there yet', { plane: NOTHING }, 'nothing'],
    ['etcd was never ready', { plane: { data: 'Empty' } }, 'nothing'],
    ['the folder is of another Cluster', { ...WAS_READY, plane: { ...NOTHING, claim: 'Other' } }, 'nothing'],
    [
      'the folder is empty',
      { ...WAS_READY, plane: NOTHING },
      /^true ControlPlaneMissing of \/hosting\/clusters\/ci: .* is empty now; restore the folder, or delete/,
    ],
    [
      'keys are lost',
      { plane: { lostKeys: LOST } },
      /^true KeysLost of \/hosting\/clusters\/ci: .*etcd-pki\/ca\.pem is missing or damaged; clusters.*restore these files/,
    ],
    [
      'etcd has the data of others',
      { plane: { data: 'Other' } },
      /^true DataNotOurs of \/hosting\/clusters\/ci: .*restore the data of this one/,
    ],
    [
      'etcd has lost its data',
      { ...WAS_READY, plane: { data: 'Empty' } },
      /^true DataMissing of \/hosting\/clusters\/ci: etcd had data at .*, and has none now; restore it/,
    ],
    [
      'etcd has lost its data, and has backups',
      { ...WAS_READY, plane: { data: 'Empty', backup: { backups: [{ name: 'b-2', takenAt: NOW }] } } },
      /create it again, with spec\.hosted\.etcd\.restoreFrom: b-2$/,
    ],
  ])('when %s', (_, parts, expected) => {
    expect(text(parts)).toMatch(expected);
  });

  it.each<readonly [string, InputParts]>([
    ['etcd has lost its data', { ...WAS_READY, plane: { ...IN_PODS, data: 'Empty' } }],
    ['etcd has the data of others', { plane: { ...IN_PODS, data: 'Other' } }],
    ['keys are lost', { plane: { ...IN_PODS, lostKeys: LOST } }],
  ])('HOS-32 keeps the volume of backups of pods before the Cluster is deleted, when %s', (_, parts) => {
    expect(text(parts)).toMatch(
      /or set the volume of claim etcd-backups to Retain \(runbook etcd-backup\), then delete the Cluster/,
    );
  });

  it('HOS-33 counts the members of etcd that have data, where there are several', () => {
    const but = { 'etcd-1': { data: 'Empty' }, 'etcd-2': { data: 'Empty' } } as const;
    const plane = { ...severalMembers({ but }), data: 'Empty' } as const;
    expect(text({ ...WAS_READY, plane })).toMatch(
      /DataMissing.*and 1 of 3 members have them now; restore it/,
    );
  });

  it.each<
    readonly [string, RotationPhase, id: string | undefined, lostUnused: readonly string[], expected: RegExp]
  >([
    ['is taken back, and the others are there', 'TrustBoth', undefined, LOST, /^nothing$/],
    ['is taken back, and another one is lost', 'TrustBoth', undefined, LOST.slice(1), /etcd-pki\/ca\.pem/],
    ['is asked for', 'TrustBoth', '2026', LOST, /KeysLost.*etcd-pki\/ca\.pem.*sa\.key/],
  ])('HOS-22 does without new keys that never issued anything, when the rotation %s', (...row) => {
    const [, phase, id, lostUnused, expected] = row;
    const state = { isApplied: true, isEnding: false, isSigned: false, hasIssued: false };
    const rotation = { id: '2026', phase, ...state, behind: [], proofs: [] };
    const pki = {
      ...HOSTED.pki,
      ...(id === undefined ? {} : { caRotation: { id, target: 'Prepare' as const } }),
    };
    expect(text({ hosted: { pki }, plane: { lostKeys: LOST, lostUnused, rotation } })).toMatch(expected);
  });

  it('is told keys first, since data is useless without them', () => {
    expect(text({ ...WAS_READY, plane: { lostKeys: LOST, data: 'Other' } })).toMatch(/^true KeysLost/);
  });
});
