import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createSimulatedApi } from '../../../src/sim/api-server/simulated-api.ts';
import { createHost, type SimulatedHost } from '../../../src/sim/rollout/hosts.ts';
import { createRecorder, type Recorder } from '../../../src/sim/rollout/recorder.ts';
import { componentSet } from '../../controllers/componentset/component-set.ts';
import { machine, node } from '../../support/builders.ts';

interface RecordedCluster {
  readonly recorder: Recorder;
  readonly put: (object: KubeObject) => KubeObject;
}

function createCluster(): RecordedCluster {
  const hosts = new Map<string, SimulatedHost>();
  const api = createSimulatedApi({ nowMs: () => 0, changed: (change) => recorder.written(change) });
  const recorder = createRecorder({ api, nowMs: () => 0, skewMs: () => 0, hosts });
  hosts.set('m-1', createHost('m-1', 'uid-1', 0));
  return { recorder, put: (object) => api.put(object) };
}

const SET = componentSet('general');
const [ENTRY] = machine('m-1').spec.components;
const ASSIGNMENT = { set: 'general', revision: 'r-2', batch: 0 };
const GRANT = { id: 'g-1', fence: 1, entryDigest: '', notAfter: '' };

describe('createRecorder', () => {
  it('records a start in the moment of its write, and each completion once', () => {
    const { recorder, put } = createCluster();
    put(SET);
    const components = [{ ...ENTRY, assignment: ASSIGNMENT, grant: GRANT }];
    put(machine('m-1', { spec: { components } as never }));
    const status = {
      conditions: [],
      history: [{ revision: 'r-2', result: 'Completed', finishedAt: 'then' }],
    };
    put({ ...SET, status });
    put({ ...SET, status: { ...status, phase: 'Ready' } });
    const found = recorder.history
      .map(({ what }) => what)
      .filter((what) => what === 'Start' || what === 'Completed');
    expect(found).toEqual(['Start', 'Completed']);
    expect(recorder.history.find(({ what }) => what === 'Start')).toMatchObject({
      machine: 'm-1',
      set: 'general',
      batch: 0,
      grant: 'g-1',
      kind: 'Update',
    });
  });

  it('names what is left at the end: waits, cordons, and grants in entries', () => {
    const { recorder, put } = createCluster();
    const waiting = { reason: 'MachineBusy', since: 'then' };
    put({ ...SET, status: { conditions: [], waiting } });
    put(componentSet('extra'));
    const components = [{ ...ENTRY, assignment: ASSIGNMENT, grant: GRANT }];
    put(machine('m-1', { spec: { components } as never }));
    put(node('m-1', 'True', { annotations: { 'kubenode.dev/cordoned-by': 'g-1' } }));
    recorder.quiet();
    expect(recorder.history.at(-1)).toMatchObject({
      what: 'Quiet',
      waits: { general: 'MachineBusy', extra: 'AllDone' },
      hung: [],
      cordons: ['m-1'],
      grants: ['m-1'],
    });
  });
});
