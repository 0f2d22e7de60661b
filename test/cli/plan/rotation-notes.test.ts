import { describe, expect, it } from 'vitest';
import { rotationInStatus, rotationNotes } from '../../../src/cli/plan/rotation-notes.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';

const PREPARE = { id: '2026', target: 'Prepare' };
const COMPLETE = { id: '2026', target: 'Complete' };
const OUTAGE = 'its one API server does not answer for 3 to 10 s each time (3.2 s on two idle cores)';

function cluster(caRotation?: object, step?: string): KubeObject {
  const spec = { hosted: { pki: caRotation ? { caRotation } : {} } };
  const found = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Cluster', metadata: { name: 'ci' }, spec };
  return step === undefined ? found : { ...found, status: { hosted: { caRotation: { id: '2026', step } } } };
}

/** Returns the Cluster with two API servers, and so many members of etcd. */
function several(found: KubeObject, members: number): KubeObject {
  const { hosted } = found['spec'] as { readonly hosted: object };
  return { ...found, spec: { hosted: { ...hosted, replicas: 2, etcd: { replicas: members } } } };
}

function pods(found: KubeObject): KubeObject {
  const { hosted } = found['spec'] as { readonly hosted: object };
  return { ...found, spec: { hosted: { ...hosted, driver: 'workload' } } };
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
        'until Complete a commit without spec.hosted.pki.caRotation takes the rotation back; it is refused while the cluster has Nodes or agents that cannot follow',
      ],
    ],
    [
      'the end of a rotation',
      cluster(PREPARE, 'Prepared'),
      cluster(COMPLETE),
      [
        `the rotation 2026 of its authorities is completed when every client has moved: ServeNew, TrustNew; each member is started again once, one at a time, and ${OUTAGE}`,
        'nothing takes it back: what only the former authorities issued is refused after it',
        'pods whose client reads its CA only once (client-go before 0.36) have to be started again before it',
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
    [
      'the end of a rotation with several API servers',
      several(cluster(PREPARE, 'Prepared'), 3),
      several(cluster(COMPLETE), 3),
      [
        'the rotation 2026 of its authorities is completed when every client has moved: ServeNew, TrustNew; each member is started again once, one at a time, and its 2 API servers are started one after the other: no outage is expected',
        'nothing takes it back: what only the former authorities issued is refused after it',
        'pods whose client reads its CA only once (client-go before 0.36) have to be started again before it',
      ],
    ],
    [
      'a rotation of one API server that is a pod',
      pods(cluster(PREPARE, 'Prepared')),
      pods(cluster(COMPLETE)),
      [
        'the rotation 2026 of its authorities is completed when every client has moved: ServeNew, TrustNew; each member is started again once, one at a time, and its next API server answers before the former one ends; etcd has one member, and nothing is served while that is started again; pods of the cluster that connect by the Service kubernetes may be refused for up to ten seconds each time',
        'nothing takes it back: what only the former authorities issued is refused after it',
        'pods whose client reads its CA only once (client-go before 0.36) have to be started again before it',
      ],
    ],
    [
      'a rotation of several API servers and one etcd that is taken back',
      several(cluster(PREPARE, 'Prepared'), 1),
      several(cluster(), 1),
      [
        'the rotation 2026 of its authorities is taken back: each member is started again up to twice, and its 2 API servers are started one after the other; etcd has one member, and nothing is served while that is started again',
      ],
    ],
    [
      'a rotation that is taken back by a commit that also asks for another API server',
      cluster(PREPARE, 'Prepared'),
      several(cluster(), 3),
      [
        `the rotation 2026 of its authorities is taken back: each member is started again up to twice, and ${OUTAGE}`,
      ],
    ],
  ])('HOS-22 lists steps, outage and how it is taken back: %s', (_, before, after, notes) => {
    expect(rotationNotes(before, after)).toEqual(notes);
  });

  it.each([
    ['Prepared', '2026'],
    ['Aborting', '2026'],
    ['Completed', undefined],
    ['Idle', undefined],
  ])('HOS-22 knows a rotation in work by its step %s, which holds the number of API servers', (step, id) => {
    expect(rotationInStatus(cluster(PREPARE, step))).toBe(id);
    expect(rotationInStatus(cluster(PREPARE))).toBeUndefined();
  });
});
