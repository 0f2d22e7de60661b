/** A Node as its kubelet and its detector report it, and the agent that carries out the steps of its jobs. */

import { MACHINES, REMEDY_OPERATION_JOBS } from '../../../src/api/generated/resources.ts';
import type { AgentStep, JobRelease, RemedyOperationJob } from '../../../src/api/generated/types.ts';
import type { Step } from '../../../src/api/steps/steps.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { servedKind } from '../../../src/sim/api-server/kinds.ts';
import { node } from '../builders.ts';
import type { ControllerBed } from '../controller/bed.ts';

export interface SimulatedNode {
  /** What the agent has done, in order. */
  readonly acts: string[];
  /** The detector or the kubelet reports this from now on. */
  report(type: string, status: 'True' | 'False' | 'Unknown', fields?: ReportFields): void;
  /** As the API server has it. */
  object(): KubeObject | undefined;
  /** With `kubectl cordon`, or `kubectl uncordon`. */
  personCordons(unschedulable: boolean): void;
  /** Heartbeats, and what the agent does. */
  turn(jobs: readonly RemedyOperationJob[]): void;
  readonly bootID: string;
  isAgentSilent: boolean;
  /** What the agent does, and the state in which it ends. A Reboot that boots calls `boot`. */
  perform: (step: Step) => AgentStep['state'];
  boot(): void;
  /** Called after each boot: what its detector reports then. */
  booted: () => void;
}

export interface ReportFields {
  readonly reason?: string;
  /** Of its log line; without it: now. */
  readonly lastTransitionTime?: string;
}

interface Reported {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly lastTransitionTime: string;
}

const HEARTBEAT_MS = 30_000;
const AGENT = { manager: 'kubenode-agent', subresource: 'status', force: true };
const STATUS = { manager: 'kubelet', subresource: 'status', force: true };
const KIND = servedKind(NODES);
const JOB_KIND = servedKind(REMEDY_OPERATION_JOBS);

export function createSimulatedNode({ api, apply, clock }: ControllerBed): SimulatedNode {
  const conditions = new Map<string, Reported>();
  const begun = new Map<string, AgentStep>();
  let boots = 1;
  let reportedMs = Number.NEGATIVE_INFINITY;
  const { status: _, metadata, ...rest } = node('m');
  apply({ ...rest, metadata: { name: metadata.name } });
  const simulated: SimulatedNode = {
    acts: [],
    report,
    object: () => api.objects.find(KIND, { name: 'm' }),
    personCordons,
    turn,
    get bootID() {
      return `boot-${boots}`;
    },
    isAgentSilent: false,
    perform: (step) => {
      if (step === 'Reboot') simulated.boot();
      return 'Succeeded';
    },
    boot: () => {
      boots += 1;
      reportBoot();
      simulated.booted();
      write();
    },
    booted: () => undefined,
  };
  report('Ready', 'True');
  return simulated;

  function report(type: string, status: string, fields: ReportFields = {}): void {
    const before = conditions.get(type);
    const at = before?.status === status ? before.lastTransitionTime : clock.now().toISOString();
    const { reason = status === 'True' ? 'Reported' : 'NotReported', lastTransitionTime = at } = fields;
    conditions.set(type, { type, status, reason, lastTransitionTime });
    write();
  }

  function write(): void {
    reportedMs = clock.monotonicMs();
    const lastHeartbeatTime = clock.now().toISOString();
    const nodeInfo = { bootID: simulated.bootID };
    const all = [...conditions.values()].map((each) => ({ ...each, lastHeartbeatTime }));
    const status = { nodeInfo, conditions: all };
    api.objects.apply(KIND, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'm' }, status }, STATUS);
  }

  function reportBoot(): void {
    const status = { facts: { bootedAt: clock.now().toISOString() } };
    const object = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Machine', metadata: { name: 'm' }, status };
    api.objects.apply(servedKind(MACHINES), object, AGENT);
  }

  function personCordons(unschedulable: boolean): void {
    const { unschedulable: __, ...spec } = (simulated.object()?.['spec'] ?? {}) as Record<string, unknown>;
    const next = unschedulable ? { ...spec, unschedulable } : spec;
    api.objects.merge(KIND, { name: 'm' }, (live) => ({ ...live, spec: next }), { manager: 'kubectl' });
  }

  function turn(jobs: readonly RemedyOperationJob[]): void {
    if (clock.monotonicMs() - reportedMs >= HEARTBEAT_MS) write();
    if (!simulated.isAgentSilent) for (const job of jobs) answer(job);
  }

  /** As a real agent: a try is begun at most once, and what was begun is answered again and again. */
  function answer({ metadata: { name }, spec, status }: RemedyOperationJob): void {
    const release = status?.release;
    if (!release || Date.parse(release.notAfter) <= clock.now().getTime()) return;
    const key = `${name} ${release.step} ${release.try}`;
    if (begun.has(key)) return;
    const planned = [...spec.plan, ...spec.onVerified].find(({ id }) => id === release.step);
    begun.set(key, perform((planned?.step ?? '').split('@')[0] as Step, release));
    const own = [...begun].filter(([each]) => each.startsWith(`${name} `)).map(([, step]) => step);
    const steps = [...new Map(own.map((step) => [step.id, step])).values()];
    const object = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'RemedyOperationJob', metadata: { name } };
    api.objects.apply(JOB_KIND, { ...object, status: { agent: { steps } } }, AGENT);
  }

  function perform(step: Step, { step: id, try: attempt, fence }: JobRelease): AgentStep {
    const bootIDBefore = simulated.bootID;
    const startedAt = clock.now().toISOString();
    simulated.acts.push(step);
    const state = simulated.perform(step);
    return { id, try: attempt, fence, state, startedAt, bootIDBefore, bootIDAfter: simulated.bootID };
  }
}
