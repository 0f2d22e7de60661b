import { describe, expect, it } from 'vitest';
import type { MemberReport } from '../../../../../../src/controllers/hosting/drivers/driver.ts';
import { reportMember } from '../../../../../../src/controllers/hosting/drivers/workload/members/report.ts';
import { memberWorkload } from '../../../../../../src/controllers/hosting/drivers/workload/objects/workloads.ts';
import {
  type WorkloadRecord,
  withRun,
  withStart,
} from '../../../../../../src/controllers/hosting/drivers/workload/record.ts';
import {
  recordedDigest,
  recordedRun,
} from '../../../../../../src/controllers/hosting/drivers/workload/runs.ts';
import { listAt, valueAt } from '../../../../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../../../../src/kube/objects/object.ts';
import { ago, NOW } from '../../../../../support/builders.ts';
import { IMAGE, planeRecord, podParts } from '../../../../../support/hosting/workload.ts';

const MEMBER = 'kube-apiserver';
const started = withStart(planeRecord(), MEMBER, { at: NOW, image: IMAGE });
const changed = withRun(started, MEMBER, { run: { version: 'v1.37.0', flags: {} }, image: IMAGE, at: NOW });

/** What is recorded, and what was written. */
type Records = readonly [record: WorkloadRecord, written: WorkloadRecord];
const STARTED: Records = [started, started];
const RECORDED: Records = [changed, started];
const CHANGED: Records = [changed, changed];

function workloadOf(record: WorkloadRecord): KubeObject {
  const version = recordedRun(record, MEMBER)?.version;
  return memberWorkload(MEMBER, { ...podParts(record), version, run: recordedDigest(record, MEMBER) ?? '' });
}

interface Pod {
  readonly of?: WorkloadRecord;
  readonly ready?: boolean;
  readonly seconds?: number;
  readonly phase?: string;
  readonly deleted?: boolean;
  /** Whether a hosting made it that recorded nothing. */
  readonly legacy?: boolean;
  readonly image?: string;
}

const USUAL = { of: started, ready: true, seconds: 60, deleted: false, legacy: false };

function podOf(parts: Pod): KubeObject {
  const { of, ready, seconds, phase, deleted, legacy, image } = { ...USUAL, ...parts };
  const template = structuredClone(valueAt(workloadOf(of), 'spec', 'template') as KubeObject);
  const container = listAt(template, 'spec', 'containers')[0] as Record<string, unknown>;
  if (image !== undefined) container['image'] = image;
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: `${MEMBER}-1`,
    uid: 'rs',
    controller: true,
  };
  const condition = { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: ago(seconds) };
  return {
    ...template,
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...template.metadata,
      name: `pod-${seconds}`,
      uid: `pod-${seconds}`,
      creationTimestamp: ago(seconds),
      ...(legacy ? { annotations: {} } : {}),
      ownerReferences: [owner],
      ...(deleted ? { deletionTimestamp: ago(1) } : {}),
    },
    status: { conditions: [condition], ...(phase === undefined ? {} : { phase }) },
  };
}

async function report(
  record: WorkloadRecord,
  workload: KubeObject | undefined,
  ...pods: Pod[]
): Promise<MemberReport> {
  const none = new Map<string, KubeObject>();
  const objects = {
    keySecrets: none,
    configMaps: none,
    services: none,
    claims: none,
    policies: none,
    budgets: none,
    workloads: new Map(workload ? [[MEMBER, workload]] : []),
    pods: pods.map(podOf),
  };
  const found = {
    owner: { name: 'ci', uid: 'uid-ci' },
    where: 'namespace kn-ci',
    claim: 'Own' as const,
    namespace: undefined,
    objects,
    record,
    keys: {},
  };
  return await reportMember(MEMBER, {
    found,
    record,
    request: undefined,
    now: NOW,
    probe: async () => undefined,
  });
}

function text({ state, isServed, isOutdated, version, identity }: MemberReport): string {
  const parts = [
    isServed ? 'served' : [],
    isOutdated ? 'outdated' : [],
    version ?? [],
    identity ?? [],
  ].flat();
  return [state, ...parts].join(' ');
}

describe('a member that is changed', () => {
  it.each<readonly [name: string, records: Records, pods: Pod[], expected: string]>([
    ['runs as recorded', STARTED, [{}], 'Ready v1.36.3 pod-60 0'],
    ['was recorded, and not written yet', RECORDED, [{}], 'Ready outdated v1.36.3 pod-60 0'],
    ['was written, and has no pod yet', CHANGED, [{}], 'Starting served v1.36.3'],
    [
      'has a next pod that does not answer',
      CHANGED,
      [{}, { of: changed, ready: false, seconds: 5 }],
      'Starting served v1.36.3 pod-5 0',
    ],
    [
      'has a next pod that answers beside the former one',
      CHANGED,
      [{}, { of: changed, seconds: 5 }],
      'Starting served v1.36.3 pod-5 0',
    ],
    [
      'is there when the former pod ends',
      CHANGED,
      [{ deleted: true }, { of: changed, seconds: 5 }],
      'Ready v1.37.0 pod-5 0',
    ],
    [
      'is there beside one that was evicted',
      CHANGED,
      [
        { phase: 'Failed', ready: false },
        { of: changed, seconds: 5 },
      ],
      'Ready v1.37.0 pod-5 0',
    ],
    ['has no pod at all', CHANGED, [], 'Starting'],
  ])('%s', async (_, [record, written], pods, expected) => {
    expect(text(await report(record, workloadOf(written), ...pods))).toBe(expected);
  });

  it.each<readonly [name: string, pod: Pod, expected: string]>([
    ['once its only pod was evicted', { phase: 'Failed', ready: false }, 'Stopped'],
    ['not while its pod is being deleted', { deleted: true }, 'Starting'],
  ])('without replicas is stopped %s', async (_, pod, expected) => {
    const workload = structuredClone(workloadOf(started));
    (workload['spec'] as Record<string, unknown>)['replicas'] = 0;
    expect((await report(started, workload, pod)).state).toBe(expected);
  });

  it('tells since when it answers, or does not', async () => {
    const at = new Date(+NOW - 60_000);
    expect((await report(started, workloadOf(started), {})).readySince).toEqual(at);
    expect((await report(started, workloadOf(started), { ready: false })).unreadySince).toEqual(at);
  });

  it('HOS-14 has the settled version while a pod serves whose version was not recorded', async () => {
    const found = await report(
      changed,
      workloadOf(changed),
      { legacy: true },
      { of: changed, ready: false, seconds: 5 },
    );
    expect(text(found)).toBe('Starting served v1.36.3 pod-5 0');
  });

  it('is served by a pod that somebody edited, and reported', async () => {
    const found = await report(started, workloadOf(started), { image: `x@sha256:${'e'.repeat(64)}` });
    expect([text(found), found.problem?.reason]).toEqual(['Starting served v1.36.3 pod-60 0', 'PodEdited']);
  });

  it('of a hosting that recorded no image runs as recorded', async () => {
    const before = { ...started, members: { [MEMBER]: { isRunning: true, starts: [] } } };
    const workload = structuredClone(workloadOf(started));
    (valueAt(workload, 'spec', 'template', 'metadata') as Record<string, unknown>)['annotations'] = undefined;
    const found = await report(before, workload);
    expect([found.isOutdated, found.drift]).toEqual([false, undefined]);
  });
});
