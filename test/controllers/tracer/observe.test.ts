import { describe, expect, it } from 'vitest';
import { MACHINE_COMPONENT_SETS, REMEDY_OPERATION_JOBS } from '../../../src/api/generated/resources.ts';
import { endedTraces, keyOfSet } from '../../../src/controllers/tracer/observe.ts';
import { createStore } from '../../../src/kube/cache/store.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { componentSet } from '../componentset/component-set.ts';
import { later, repairJob } from '../remedyjob/jobs.ts';

const COMMIT = '4f2c9e1a77b0';

/** The kinds of the traces of a key, and when they ended, with these objects. */
function observed(key: string, ...objects: readonly KubeObject[]): readonly string[] {
  const stores = new Map<Resource, ReturnType<typeof createStore>>();
  for (const resource of [REMEDY_OPERATION_JOBS, MACHINE_COMPONENT_SETS]) {
    const store = createStore({ log: memoryLog() });
    for (const object of objects) if (object.kind === resource.kind) store.put(object);
    stores.set(resource, store);
  }
  const context = { clock: virtualClock(), view: (resource: Resource) => stores.get(resource) };
  return endedTraces(key, context as never).map(({ what, endedAt }) => `${what} ${endedAt}`);
}

function settled(seconds: number): KubeObject {
  return repairJob({ status: { timeline: { settledAt: later(seconds) } } });
}

const NAME = repairJob().metadata.name;
const BATCH = { index: 1, startedAt: later(-20), settledAt: later(-10) };

describe('what the tracer observes', () => {
  it.each<[name: string, key: string, objects: readonly KubeObject[], expected: readonly string[]]>([
    ['of a job that is settled', NAME, [settled(-10)], [`repair ${later(-10)}`]],
    ['of a job whose clock was ahead', NAME, [settled(60)], [`repair ${later(60)}`]],
    ['of a job that goes on', NAME, [repairJob()], []],
    ['of a job that was settled an hour before', NAME, [settled(-3600)], []],
    ['of a job that is not found', NAME, [], []],
    [
      'of a set whose batch is settled',
      keyOfSet('general'),
      [
        componentSet('general', {
          status: {
            conditions: [],
            updateRevision: 'r-2',
            startedAt: later(-30),
            commit: COMMIT,
            batch: BATCH,
          },
        }),
      ],
      [`rollout ${later(-10)}`],
    ],
    ['of a set that has begun nothing', keyOfSet('general'), [componentSet('general')], []],
    ['of a set that is not found', keyOfSet('general'), [settled(-10)], []],
  ])('is the trace %s', (_, key, objects, expected) => {
    expect(observed(key, ...objects)).toEqual(expected);
  });
});
