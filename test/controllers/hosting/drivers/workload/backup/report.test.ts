import { describe, expect, it } from 'vitest';
import {
  reportedBy,
  reportPodBackups,
  stepOf,
} from '../../../../../../src/controllers/hosting/drivers/workload/backup/report.ts';
import type { FoundPlane } from '../../../../../../src/controllers/hosting/drivers/workload/hub.ts';
import { BACKUPS } from '../../../../../../src/controllers/hosting/drivers/workload/names.ts';
import { withAttempt } from '../../../../../../src/controllers/hosting/drivers/workload/record.ts';
import type { KubeObject } from '../../../../../../src/kube/objects/object.ts';
import { NOW } from '../../../../../support/builders.ts';
import { planeRecord } from '../../../../../support/hosting/workload.ts';

const NAMES = ['000001-20300101T000000Z', '000002-20300102T000000Z'];
const LIST = JSON.stringify({ names: NAMES, takenAt: '2030-01-02T00:00:00.500Z', request: 'by hand' });

function found(list: string | undefined, record = planeRecord()): FoundPlane {
  const annotations = list === undefined ? {} : { 'kubenode.dev/backups': list };
  const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: BACKUPS, annotations } };
  const none = new Map<string, KubeObject>();
  const shared = { keySecrets: none, configMaps: none, services: none, policies: none, budgets: none };
  return {
    owner: { name: 'ci', uid: 'uid' },
    where: 'namespace kn-ci',
    claim: 'Own',
    namespace: undefined,
    objects: { ...shared, workloads: none, pods: [], claims: new Map([[BACKUPS, claim]]) },
    record,
    keys: {},
  };
}

function ended(...messages: readonly (string | undefined)[]): KubeObject {
  const containerStatuses = messages.map((message) => ({ state: { terminated: { message } } }));
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pod' }, status: { containerStatuses } };
}

describe('what is known of the backups of an etcd of pods', () => {
  it('HOS-32 is the list on their claim, with the attempts and the backup of its beginning', () => {
    const attempted = withAttempt(planeRecord(), 'backup', { at: NOW, problem: 'no room', since: NOW });
    const record = { ...attempted, restored: '000001-20300101T000000Z' };
    expect(reportPodBackups(found(LIST, record))).toEqual({
      backups: [
        { name: NAMES[0], takenAt: new Date('2030-01-01T00:00:00Z') },
        { name: NAMES[1], takenAt: new Date('2030-01-02T00:00:00.500Z'), request: 'by hand' },
      ],
      attempt: { at: NOW, problem: 'no room', since: NOW },
      restoredFrom: NAMES[0],
    });
  });

  it.each([
    ['is not there', undefined],
    ['was edited', '{"names":["../other"],"takenAt":"2030-01-02T00:00:00Z"}'],
    ['is cut off', LIST.slice(0, 40)],
  ])('HOS-32 are not known where the list %s', (_, list) => {
    expect(reportPodBackups(found(list))?.backups).toEqual([]);
  });

  it('HOS-32 is not known before the control plane is prepared', () => {
    expect(reportPodBackups({ ...found(LIST), record: undefined })).toBeUndefined();
  });

  it('HOS-32 is what the last container of a Job has reported, where its pod is still there', () => {
    expect(reportedBy([])).toBeUndefined();
    expect(reportedBy([ended(undefined), ended('')])).toBeUndefined();
    expect(reportedBy([ended('list')])).toBe('list');
  });

  it.each([
    [undefined, 'Waiting'],
    ['copy', 'Copying'],
    ['open', 'Copying'],
    ['etcd', 'Opening'],
    ['keep', 'Opening'],
    ['kube-apiserver', 'Opening'],
    ['check', 'Serving'],
  ])('HOS-32 names the step of the container %s', (container, step) => {
    expect(stepOf(container)).toBe(step);
  });
});
