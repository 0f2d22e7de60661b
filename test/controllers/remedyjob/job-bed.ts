/** The controller of jobs over an API server in memory, with a machine whose agent and kubelet survive every crash of the controller. */
import {
  DEFENDER_LEDGERS,
  MACHINES,
  MAINTENANCE_EVENTS,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
} from '../../../src/api/generated/resources.ts';
import type {
  AgentStep,
  RemedyOperationJob,
  RemedyOperationJobSpec,
} from '../../../src/api/generated/types.ts';
import { readinessOf, taintKeys } from '../../../src/api/machine/node-state.ts';
import type { Step } from '../../../src/api/steps/steps.ts';
import { createRemedyJobController } from '../../../src/controllers/remedyjob/controller.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { BUDGETS } from '../../../src/kube/drain/budgets.ts';
import { NODES, PODS, VOLUME_ATTACHMENTS } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createEventAnswers, type EventAnswers } from '../../../src/providers/event-answers.ts';
import type { Reading } from '../../../src/rules/compiled-rule.ts';
import type { FactChange } from '../../../src/rules/live/fact-changes.ts';
import { type ServedKind, servedKind } from '../../../src/sim/api-server/kinds.ts';
import { node } from '../../support/builders.ts';
import { type ControllerBed, createControllerBed } from '../../support/controller/bed.ts';
import { createMemoryPower, type MemoryPower } from '../../support/memory-power.ts';
import { remedier } from '../../support/remediers.ts';
import { BOOT, GRANT, jobMachine, jobSpec } from './jobs.ts';

const KINDS: readonly ServedKind[] = [
  servedKind(REMEDY_OPERATION_JOBS),
  servedKind(MACHINES),
  servedKind(NODES),
  { resource: NODE_REMEDIERS, status: true },
  { resource: DEFENDER_LEDGERS },
  { resource: PODS },
  { resource: BUDGETS },
  { resource: VOLUME_ATTACHMENTS },
  servedKind(MAINTENANCE_EVENTS),
];
export const JOB = 'm-kernel-hang-7c1f02ab-r1-a1';
const TURN_MS = 500;

export interface JobBed extends ControllerBed {
  readonly host: SimulatedHost;
  readonly power: MemoryPower;
  /** The kernel has died: neither agent nor kubelet answers until the power was off and on. */
  readonly die: () => void;
  /** The host boots by itself. */
  readonly comeBack: () => void;
  /** Called before each call of the port of the power. */
  readonly powerCalls: { called: (call: string) => void };
  readonly job: () => RemedyOperationJob | undefined;
  readonly node: () => KubeObject | undefined;
  /** Time passes, and the agent takes its turns. */
  readonly live: (seconds: number) => Promise<void>;
  readonly createJob: (spec?: Partial<RemedyOperationJobSpec>, without?: readonly string[]) => void;
  /** A person removes the finalizer of the job, and deletes it. */
  readonly removeJobByForce: () => void;
}

export interface SimulatedHost {
  /** What the agent has done, in order. */
  readonly acts: string[];
  /** Settlements of grants: `g-7-1 Succeeded`. */
  readonly settled: string[];
  /** Classes of the outcomes of jobs that the metrics counted, in all processes. */
  readonly counted: string[];
  /** The reading of each fact, by name and parameters. */
  facts: (key: string) => Reading;
  /** Called for a change of facts, as by their sources. */
  readonly factListeners: Set<(change: FactChange) => void>;
  isAgentSilent: boolean;
  /** It acts at once, and reports it this much later. */
  reportDelayMs: number;
  /** After a reboot the kubelet reports the new boot this much later. */
  bootDelayMs: number;
  renewal: 'granted' | 'denied' | 'lost';
  /** The times at which a dead host showed life, and was switched off; and at which a running one was out of service. */
  readonly wrongs: string[];
  /** Takes answers to what it has announced, and reboots the host for one. */
  provider: EventAnswers;
  /** The state in which the agent ends a step. */
  result: (step: Step) => AgentStep['state'];
}

/** The kernel hangs until the node has booted again. */
const SICK: Readonly<Record<string, Reading>> = {
  FrequentTaskHung: { status: 'True', observedSeconds: 300 },
  Ready: { status: 'False' },
};
const WELL: Readonly<Record<string, Reading>> = {
  FrequentTaskHung: { status: 'False', observedSeconds: 300 },
  Ready: { status: 'True' },
};

export function createJobBed(): JobBed {
  const host: SimulatedHost = {
    acts: [],
    settled: [],
    counted: [],
    facts: (type) => (bootOf() === BOOT ? SICK[type] : WELL[type]) ?? {},
    factListeners: new Set(),
    isAgentSilent: false,
    reportDelayMs: 0,
    bootDelayMs: 0,
    renewal: 'granted',
    wrongs: [],
    provider: createEventAnswers(() => ({})),
    result: () => 'Succeeded',
  };
  const begun = new Map<string, AgentStep>();
  let boot = { id: BOOT, reportMs: Infinity };
  const powerCalls: JobBed['powerCalls'] = { called: () => {} };
  const present = (): Date => bed.clock.now();
  const power = createMemoryPower({
    clock: { now: present },
    changed: powerChanged,
    called: (call) => powerCalls.called(call),
  });
  const bed = createControllerBed({
    controllers: (client) => [controllerIn(host, client, power)],
    kinds: KINDS,
    objects: objects(),
  });
  bed.apply({ ...nodeObject(), status: { nodeInfo: { bootID: BOOT } } }, 'status');
  const job = (): RemedyOperationJob | undefined => bed.get<RemedyOperationJob>(REMEDY_OPERATION_JOBS, JOB);
  const found = (): KubeObject | undefined => bed.get(NODES, 'm');
  return {
    ...bed,
    host,
    power,
    powerCalls,
    job,
    node: found,
    live,
    createJob,
    removeJobByForce,
    die,
    comeBack,
  };

  function die(): void {
    host.isAgentSilent = true;
    report('Unknown', 'Unknown');
  }

  function comeBack(): void {
    boot = { id: `boot-again-${present().getTime()}`, reportMs: present().getTime() };
    host.isAgentSilent = false;
    reportBoot();
  }

  function powerChanged(_: string, isOn: boolean): void {
    if (!isOn) {
      if (readinessOf(found()) === 'Ready') host.wrongs.push('a host that came back was switched off');
      host.isAgentSilent = true;
      boot = { ...boot, reportMs: Infinity };
      return;
    }
    checkService();
    boot = { id: `boot-${power.hostOf('m').ons + 1}`, reportMs: present().getTime() + host.bootDelayMs };
    host.isAgentSilent = false;
  }

  function checkService(): void {
    const isOut = taintKeys(found()).includes('node.kubernetes.io/out-of-service');
    if (power.hostOf('m').isOn && isOut) host.wrongs.push('a machine that runs is out of service');
  }

  function report(ready: string, agent: string): void {
    const { id } = boot;
    const at = present().toISOString();
    const of = (type: string, status: string): object => ({
      type,
      status,
      reason: 'Reported',
      message: '',
      lastTransitionTime: at,
    });
    const nodeStatus = { conditions: [of('Ready', ready)], nodeInfo: { bootID: id } };
    bed.apply({ ...nodeObject(), status: nodeStatus }, 'status');
    const { apiVersion, kind } = jobMachine();
    const status = { conditions: [of('AgentReady', agent)] };
    bed.apply({ apiVersion, kind, metadata: { name: 'm' }, status }, 'status');
  }

  function bootOf(): string {
    const status = bed.get(NODES, 'm')?.['status'] as { nodeInfo?: { bootID?: string } } | undefined;
    return status?.nodeInfo?.bootID ?? '';
  }

  function createJob(spec: Partial<RemedyOperationJobSpec> = {}, without: readonly string[] = []): void {
    const uids = {
      machine: { name: 'm', uid: bed.get(MACHINES, 'm')?.metadata.uid ?? '' },
      node: { uid: found()?.metadata.uid ?? '', bootID: BOOT },
    };
    const metadata = { name: JOB, finalizers: ['kubenode.dev/settle'] };
    const object = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'RemedyOperationJob', metadata };
    const fields = Object.entries(jobSpec({ ...uids, ...spec })).filter(
      ([field]) => !without.includes(field),
    );
    bed.apply({ ...object, spec: Object.fromEntries(fields) });
  }

  function removeJobByForce(): void {
    bed.api.objects.merge(
      servedKind(REMEDY_OPERATION_JOBS),
      { name: JOB },
      (object) => ({ ...object, metadata: { ...object.metadata, finalizers: [] } }),
      { manager: 'person' },
    );
    bed.delete(REMEDY_OPERATION_JOBS, JOB);
  }

  async function live(seconds: number): Promise<void> {
    for (let left = seconds * 1000; left > 0; left -= TURN_MS) {
      // oxlint-disable-next-line no-await-in-loop -- one turn after the other
      await bed.advance(TURN_MS);
      power.settle();
      checkService();
      if (boot.reportMs <= present().getTime()) reportBoot();
      agentTurn();
    }
  }

  /** As a real agent: a try is begun at most once, and what was begun is answered again and again. */
  function agentTurn(): void {
    const current = job();
    if (!current || host.isAgentSilent) return;
    begin(current);
    const reported = [...begun.values()].filter(isReported);
    const last = new Map(reported.map((step) => [step.id, step]));
    if (last.size === 0) return;
    const { apiVersion, kind } = current;
    const status = { agent: { steps: [...last.values()] } };
    bed.apply({ apiVersion, kind, metadata: { name: JOB }, status }, 'status');
  }

  function reportBoot(): void {
    boot = { ...boot, reportMs: Infinity };
    report('True', 'True');
  }

  function isReported({ startedAt = '' }: AgentStep): boolean {
    return Date.parse(startedAt) + host.reportDelayMs <= bed.clock.now().getTime();
  }

  function begin(current: RemedyOperationJob): void {
    const release = current.status?.release;
    if (!release || Date.parse(release.notAfter) <= bed.clock.now().getTime()) return;
    const key = `${release.step} ${release.try}`;
    if (!begun.has(key)) begun.set(key, perform(current, release));
  }

  function perform(
    { spec }: RemedyOperationJob,
    release: NonNullable<NonNullable<RemedyOperationJob['status']>['release']>,
  ): AgentStep {
    const planned = [...spec.plan, ...spec.onVerified].find(({ id }) => id === release.step);
    const [step] = (planned?.step ?? '').split('@') as [Step];
    host.acts.push(step);
    const state = host.result(step);
    const at = bed.clock.now();
    const bootIDBefore = boot.id;
    if (step === 'Reboot' && state === 'Succeeded') {
      boot = { id: `boot-after-${host.acts.length}`, reportMs: at.getTime() + host.bootDelayMs };
    }
    const bootIDAfter = boot.id;
    const startedAt = at.toISOString();
    return {
      id: release.step,
      try: release.try,
      fence: release.fence,
      state,
      startedAt,
      bootIDBefore,
      bootIDAfter,
    };
  }
}

function controllerIn(
  host: SimulatedHost,
  client: Client,
  switches: MemoryPower,
): ReturnType<typeof createRemedyJobController> {
  return createRemedyJobController({
    client: { pages: client.pages.bind(client), get: client.get.bind(client) },
    switches,
    eventAnswers: host.provider,
    metrics: {
      began: () => undefined,
      settled: (_, { outcome }) => void host.counted.push(outcome?.class ?? 'unknown'),
    },
    facts: {
      read: () => (ref) => host.facts(String(ref.params['type'] ?? ref.fact)),
      onChange: (listener) => {
        host.factListeners.add(listener);
        return () => void host.factListeners.delete(listener);
      },
    },
    grants: {
      ask: async () => [{ granted: false, reason: 'NodeBusy', message: 'Reboot is in work', also: [] }],
      renew: async () => [renewalIn(host)],
      settle: async (settlements) => {
        for (const { id, outcome } of settlements) host.settled.push(`${id} ${outcome}`);
      },
    },
  });
}

function renewalIn({ renewal }: SimulatedHost): never {
  const denied = { granted: false, also: [] };
  const answers = {
    granted: { granted: true, ...GRANT, notAfter: '2030-01-01T14:00:00Z' },
    denied: { ...denied, reason: 'KillSwitch', message: 'the kill switch is on' },
    lost: { ...denied, reason: 'AskInvalid', message: 'the grant is settled' },
  };
  return answers[renewal] as never;
}

function nodeObject(): KubeObject {
  const { status: _, metadata, ...rest } = node('m');
  return { ...rest, metadata: { name: metadata.name } };
}

function objects(): readonly KubeObject[] {
  const { status: _, metadata, ...rest } = jobMachine();
  const { metadata: named, ...rule } = remedier();
  return [
    { ...rest, metadata: { name: metadata.name } },
    nodeObject(),
    { ...rule, metadata: { name: named.name } },
    {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'DefenderLedger',
      metadata: { name: 'default' },
      spec: { grants: {}, approvals: {} },
    },
  ];
}
