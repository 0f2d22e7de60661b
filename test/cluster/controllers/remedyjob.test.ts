/** The controller of jobs on a real API server under every admission policy, with its own account, and an agent with its. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINES, REMEDY_OPERATION_JOBS } from '../../../src/api/generated/resources.ts';
import type { AgentStep, JobRelease, Machine, RemedyOperationJob } from '../../../src/api/generated/types.ts';
import { isCordoned } from '../../../src/api/machine/node-state.ts';
import { AGENT_GROUP, agentUser, MANAGER_AGENT } from '../../../src/api/names.ts';
import { openTraces } from '../../../src/cli/programs/trace-options.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { NODES, PODS } from '../../../src/kube/objects/core-kinds.ts';
import { createMetrics } from '../../../src/kube/process/metrics.ts';
import type { TraceExporter } from '../../../src/observability/trace/otlp/exporter.ts';
import { changeSpan } from '../../../src/observability/trace/trace.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { jobSpec, REBOOT_PLAN } from '../../controllers/remedyjob/jobs.ts';
import { eventually } from '../../support/eventually.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { testIo } from '../../support/test-io.ts';
import {
  type CollectedSpan,
  startTraceCollector,
  type TraceCollector,
} from '../../support/trace-collector.ts';
import { ensureAccount } from './budgeted-pod.ts';
import { BOOT, type JobCluster, startJobCluster } from './job-cluster.ts';

const MACHINE = 'm';
const JOB = { name: 'm-kernel-hang-7c1f02ab-r1-a1' };
const AFTER = 'boot-2';

let cluster: JobCluster;
beforeAll(async () => {
  cluster = await startJobCluster();
  await cluster.createMachine(MACHINE);
  await runPod();
});
afterAll(() => cluster?.installed.stop());

/** A pod that ends as soon as it is evicted. */
async function runPod(): Promise<void> {
  await ensureAccount(cluster.admin);
  const metadata = { name: 'web', namespace: 'default' };
  const containers = [{ name: 'main', image: 'x' }];
  const ends = { terminationGracePeriodSeconds: 0, automountServiceAccountToken: false };
  const spec = { nodeName: MACHINE, ...ends, containers };
  await cluster.admin.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata, spec });
}

/** What the agent of the machine does: each released try once, with an answer as its own account. */
async function answerRelease(begun: Map<string, string>): Promise<void> {
  const found = await cluster.job(JOB.name);
  const release = found.status?.release;
  if (release && !begun.has(`${release.step} ${release.try}`)) await carryOutRelease(found, release, begun);
}

async function carryOutRelease(
  found: RemedyOperationJob,
  release: JobRelease,
  begun: Map<string, string>,
): Promise<void> {
  const planned = found.spec.plan.filter(({ id }) => id === release.step).map(({ step }) => step);
  begun.set(`${release.step} ${release.try}`, planned.join());
  const isReboot = planned.includes('Reboot@v1');
  if (isReboot) await cluster.reportBoot(MACHINE, AFTER);
  const { step: id, try: attempt, fence } = release;
  const boots = { bootIDBefore: BOOT, bootIDAfter: isReboot ? AFTER : BOOT };
  const at = createSystemClock().now().toISOString();
  const times = { startedAt: at, finishedAt: at };
  await writeAnswer(found, { id, try: attempt, fence, state: 'Succeeded', ...times, ...boots });
}

async function writeAnswer(
  { apiVersion, kind, status }: RemedyOperationJob,
  answer: AgentStep,
): Promise<void> {
  const others = (status?.agent?.steps ?? []).filter(({ id }) => id !== answer.id);
  const object = { apiVersion, kind, metadata: JOB, status: { agent: { steps: [...others, answer] } } };
  const agent = await cluster.installed.as(agentUser(MACHINE), [AGENT_GROUP]);
  const applying = { fieldManager: MANAGER_AGENT, force: true, subresource: 'status' };
  await agent.apply(REMEDY_OPERATION_JOBS, object, applying);
}

function tracesTo({ endpoint }: TraceCollector): TraceExporter | undefined {
  const parts = { log: memoryLog(), metrics: createMetrics(), random: () => 0 };
  const io = { env: {}, clock: createSystemClock() };
  return openTraces(io, { otlpEndpoint: endpoint, otlpCluster: 'prod-1' }, parts);
}

/** DAT-10: one trace of the job, with each of its steps, those of the agent among them. */
async function expectTrace(collector: TraceCollector, { spec }: RemedyOperationJob): Promise<void> {
  await eventually(async () => collector.requests[0], 'no trace arrived');
  expect(collector.requests).toMatchObject([
    { resource: { 'service.name': 'kubenode', 'k8s.cluster.name': 'prod-1' } },
  ]);
  const spans = collector.spans();
  expect(spans[0]).toMatchObject({
    name: 'repair',
    status: { code: 1 },
    attributes: { 'kubenode.job': JOB.name, 'kubenode.commit': '4f2c9e1a77b0', 'k8s.node.name': MACHINE },
    links: [changeSpan('4f2c9e1a77b0')],
  });
  const names = spans.map(({ name }) => name);
  const steps = [...REBOOT_PLAN, ...spec.onVerified].map(({ step }) => step);
  expect(names).toEqual(expect.arrayContaining([...steps, 'agent', 'verify', 'settle']));
  expect(spans.filter((span) => !isWithinParent(span, spans)).map(({ name }) => name)).toEqual(['repair']);
  const io = testIo({ env: { KUBECONFIG: cluster.installed.server.kubeconfig } });
  expect(await runCommandLine(io, ['why', 'job', JOB.name])).toBe(0);
  for (const text of [...spans.map(({ traceId }) => traceId), ...names]) expect(io.stdout).toContain(text);
}

/** A span without a parent is not. */
function isWithinParent(span: CollectedSpan, spans: readonly CollectedSpan[]): boolean {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
  if (!parent) return false;
  const begins = BigInt(span.startTimeUnixNano) >= BigInt(parent.startTimeUnixNano);
  return begins && BigInt(span.endTimeUnixNano) <= BigInt(parent.endTimeUnixNano);
}

describe('a repair job on a real API server', () => {
  it('R33 R34 R37 cordons, evicts, reboots once, verifies and gives everything back with the rights of its account', async () => {
    const collector = await startTraceCollector();
    const { settled } = await cluster.startController({ traces: tracesTo(collector) });
    const { verify, onVerified } = jobSpec();
    const spec = { onVerified, ...(verify && { verify: { ...verify, holdSeconds: 2 } }) };
    await cluster.createJob(MACHINE, { action: 'Reboot', risk: 'Node', plan: REBOOT_PLAN, spec });
    const begun = new Map<string, string>();
    const cordons = new Set<boolean>();
    const done = await eventually(
      async () => {
        await answerRelease(begun);
        cordons.add(isCordoned(await cluster.admin.get(NODES, { name: MACHINE })));
        const found = await cluster.job(JOB.name);
        return (found.metadata.finalizers ?? []).length === 0 ? found : undefined;
      },
      'the job did not end',
      120_000,
    );
    expect(done.status).toMatchObject({
      phase: 'Succeeded',
      outcome: { class: 'Succeeded', reason: 'Verified' },
      drain: { total: 1, evicted: 1, pending: 0 },
    });
    expect([...begun.values()]).toEqual(['CollectDiagnostics@v1', 'Reboot@v1']);
    expect(settled).toEqual(['Succeeded']);
    const node = await cluster.admin.get(NODES, { name: MACHINE });
    expect([isCordoned(node), node.metadata.annotations ?? {}]).toEqual([false, {}]);
    expect(cordons).toEqual(new Set([false, true]));
    expect((await cluster.admin.list(PODS, { namespace: 'default' })).items).toEqual([]);
    const { repairs } = (await cluster.admin.get<Machine>(MACHINES, { name: MACHINE })).status ?? {};
    expect(repairs).toMatchObject({ total: 1, recent: [{ job: JOB.name, outcome: 'Succeeded' }] });
    expect(done.status?.timeline).toMatchObject({
      admittedAt: done.spec.grant.issuedAt,
      verifiedAt: expect.any(String) as string,
      settledAt: expect.any(String) as string,
    });
    await expectTrace(collector, done);
  });
});
