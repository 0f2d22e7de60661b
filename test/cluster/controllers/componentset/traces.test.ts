/** DAT-10: a rollout by `kubenode controllers` on a real API server, with agents on hosts in memory, and what arrives at a collector. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINE_COMPONENT_SETS } from '../../../../src/api/generated/resources.ts';
import { changeSpan } from '../../../../src/observability/trace/trace.ts';
import { eventually } from '../../../support/eventually.ts';
import {
  type CollectedSpan,
  startTraceCollector,
  type TraceCollector,
} from '../../../support/trace-collector.ts';
import { startControllers } from '../../defender/processes.ts';
import { CONTROLLERS } from '../machine-cluster.ts';
import { gateOf, type RolloutFleet, startRolloutFleet } from '../rollout-fleet.ts';

const COMMIT = '4f2c9e1a77b0';
/** The status has a settled batch while it soaks: on a busy machine the tracer reads it late. */
const SOAK_SECONDS = 5;
const ROLLOUT = { batches: [1, 2], maxUnavailable: 2, gate: gateOf(SOAK_SECONDS) };

let fleet: RolloutFleet;
let collector: TraceCollector;
let stopCollector: (() => void) | undefined;

beforeAll(async () => {
  collector = await startTraceCollector((stop) => {
    stopCollector = stop;
  });
  fleet = await startRolloutFleet(async ({ server }) => {
    const kubeconfig = await server.kubeconfigFor(CONTROLLERS);
    return () => startControllers(kubeconfig, '--otlp-endpoint', collector.endpoint);
  });
});
afterAll(async () => {
  stopCollector?.();
  await fleet?.stop();
});

/** Sets the commit, as sync does with each change. */
async function setCommit(name: string, commit: string): Promise<void> {
  const body = { metadata: { annotations: { 'kubenode.dev/commit': commit } } };
  const options = { fieldManager: 'sync' };
  await fleet.cluster.admin.patch(MACHINE_COMPONENT_SETS, { name }, { type: 'merge', body }, options);
}

async function arrived(name: string, set: string): Promise<readonly CollectedSpan[]> {
  const own = (): readonly CollectedSpan[] =>
    collector.spans().filter(({ attributes }) => attributes['kubenode.component_set'] === set);
  const found = async (): Promise<readonly CollectedSpan[] | undefined> =>
    own().some((span) => span.name === name) ? own() : undefined;
  return await eventually(found, `no span ${name} of ${set} arrived`);
}

describe('DAT-10 the trace of a rollout on a real API server', () => {
  it('has each batch within the rollout, which is a part of the trace of its commit', async () => {
    await fleet.pool('traced', 3);
    await setCommit('traced', COMMIT);
    await fleet.declare('traced', '2.0', { rollout: ROLLOUT });
    await fleet.setIs('traced', 'began the rollout', ({ commit }) => commit === COMMIT);
    // A change of the set that begins no rollout.
    await setCommit('traced', 'b'.repeat(40));
    const { currentRevision } = await fleet.completed('traced');
    const spans = await arrived('rollout', 'traced');
    const { traceId, spanId: parentSpanId } = changeSpan(COMMIT);
    const [rollout] = spans.filter(({ name }) => name === 'rollout');
    expect(rollout).toMatchObject({
      traceId,
      parentSpanId,
      status: { code: 1 },
      attributes: {
        'kubenode.commit': COMMIT,
        'kubenode.revision': currentRevision,
        'kubenode.components': 'traced-2.0',
      },
    });
    const batches = spans.filter(({ name, parentSpanId: of }) => name === 'batch' && of === rollout?.spanId);
    expect(batches.map(({ attributes }) => attributes['kubenode.machines'])).toEqual(['1', '2']);
  });

  it('has the reason for which a rollout was taken back', async () => {
    await fleet.pool('broken', 3);
    await setCommit('broken', COMMIT);
    fleet.broken.add('broken-2.0');
    await fleet.declare('broken', '2.0', { rollout: ROLLOUT });
    const spans = await arrived('rollout', 'broken');
    expect(spans.filter(({ name }) => name === 'rollout')).toMatchObject([
      {
        status: { code: 2, message: expect.stringContaining('unit broken failed') as string },
        attributes: { 'error.type': 'FailureBudgetSpent', 'kubenode.commit': COMMIT },
      },
    ]);
    const batches = spans.filter(({ name }) => name === 'batch');
    expect(batches.map(({ attributes, status }) => [attributes['kubenode.batch'], status.code])).toEqual([
      ['0', 1],
      ['1', 2],
    ]);
  });
});
