import { describe, expect, it } from 'vitest';
import { rotationNotes } from '../../../src/cli/plan/rotation-notes.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';

const PREPARE = { id: '2026', target: 'Prepare' };
const COMPLETE = { id: '2026', target: 'Complete' };
const OUTAGE = 'its one API server does not answer for 3 to 10 s each time (3.2 s on two idle cores)';

function cluster(caRotation?: object, step?: string): KubeObject {
  const spec = { hosted: { pki: caRotation ? { caRotation } : {} } };
  const found = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Cluster', metadata: { name: 'ci' }, spec };
  return step === undefined ? found : { ...found, status: { hosted: { caRotation: { id: '2026', step } } } };
}

describe('what plan shows of authorities that are rotated', () => {
  it.each<[about: string, before: KubeObject, after: KubeObject, notes: readonly string[]]>([
    ['no rotation', cluster(), cluster(), []],
    ['the same rotation', cluster(PREPARE, 'Prepared'), cluster(PREPARE), []],
    [
      'a rotation that begins',
      cluster(),
      cluster(PREPARE),
      [
        `its authorities are rotated (2026): TrustBoth, IssueNew; each member is started again twice, one at a time, and ${OUTAGE}`,
        'until Complete a commit without spec.hosted.pki.caRotation takes the rotation back; it is refused while the cluster has Machines or Nodes',
      ],
    ],
    [
      'the end of a rotation',
      cluster(PREPARE, 'Prepared'),
      cluster(COMPLETE),
      [
        `the rotation 2026 of its authorities is completed when every client has moved: ServeNew, TrustNew; each member is started again once, one at a time, and ${OUTAGE}`,
        'nothing takes it back: what only the former authorities issued is refused after it',
      ],
    ],
    [
      'an end without a preparation',
      cluster(),
      cluster(COMPLETE),
      [
        'the rotation 2026 of its authorities was not prepared, so that nothing is done: set target Prepare first',
      ],
    ],
    [
      'an end that is put off',
      cluster(COMPLETE, 'Prepared'),
      cluster(PREPARE),
      ['the rotation 2026 of its authorities is not completed yet: both stay trusted'],
    ],
    [
      'a rotation that is taken back',
      cluster(PREPARE, 'Prepared'),
      cluster(),
      [
        `the rotation 2026 of its authorities is taken back: each member is started again up to twice, and ${OUTAGE}`,
      ],
    ],
    [
      'a rotation that may be past the point at which it can be taken back',
      cluster(COMPLETE, 'Completing'),
      cluster(),
      [
        'the rotation 2026 of its authorities is completing: it is taken back unless only the new ones are trusted already',
      ],
    ],
    ['a rotation that is over', cluster(COMPLETE, 'Completed'), cluster(), []],
  ])('HOS-22 lists steps, outage and how it is taken back: %s', (_, before, after, notes) => {
    expect(rotationNotes(before, after)).toEqual(notes);
  });
});
