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
const ROLLOUT = { batches: [1, 2], maxUnavailable: 2, gate: gateOf(1) };

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
async function setCommit(name: string): Promise<void> {
  const body = { metadata: { annotations: { 'kubenode.dev/commit': COMMIT } } };
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
    await setCommit('traced');
    await fleet.declare('traced', '2.0', { rollout: ROLLOUT });
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
    await setCommit('broken');
    fleet.broken.add('broken-2.0');
    await fleet.declare('broken', '2.0', { rollout: ROLLOUT });
    const spans = await arrived('rollout', 'broken');
    expect(spans.filter(({ name }) => name === 'rollout')).toMatchObject([
      {
        status: { code: 2, message: expect.stringContaining('UnitFailed') as string },
        attributes: { 'error.type': expect.any(String) as string },
      },
    ]);
  });
});
