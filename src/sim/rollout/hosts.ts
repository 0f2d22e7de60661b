/**
 * Simulates hosts with their agents and kubelets: they install what their Machine asks for with the grant that it carries, and fail, fall
 * silent or break.
 */
import { createReportPace, type ReportPace } from '../../agent/status/report-pace.ts';
import { MACHINES } from '../../api/generated/resources.ts';
import type { Machine, MachineComponentEntry, MachineComponentReport } from '../../api/generated/types.ts';
import { DRAIN_PENDING } from '../../api/machine/drain-wait.ts';
import { entryDigest } from '../../api/machine/entry-content.ts';
import { entriesDigest, hasGrants } from '../../api/machine/entry-report.ts';
import { NAMESPACE_AGENTS, TAINT_NOT_INITIALIZED } from '../../api/names.ts';
import { API_VERSION } from '../../api/version.ts';
import { LEASES } from '../../kube/leader/record.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import { listAt, textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { SimulatedApi } from '../api-server/simulated-api.ts';
import type { Random } from '../random.ts';

/** The behavior of a version. Late: the Node is not Ready a minute after the commit, for as long as the version is installed. */
export type Behavior = 'Good' | 'Fails' | 'Hangs' | 'Late';

export interface SimulatedVersion {
  readonly behaviorOn: (machine: string) => Behavior;
  readonly needsDrain: boolean;
}

export interface SimulatedHost {
  readonly name: string;
  /** The UID of its Machine: another one of that name has another host. */
  readonly uid: string;
  readonly components: Map<string, HostComponent>;
  silentUntilMs: number;
  notReadyUntilMs: number;
  /** Whether nothing runs on it: its kernel has died, or it is off. */
  isDown: boolean;
  heartbeatMs: number;
  readyChangedMs: number;
  isReady: boolean;
  /** The number of times that it was started. */
  boots: number;
  /** When the agent reports. A start of the host begins with a report. */
  pace: { readonly boot: number; readonly reports: ReportPace } | undefined;
}

export interface HostComponent {
  installed?: MachineComponentEntry;
  committedMs: number;
  /** The digests of the content that failed here. */
  readonly denied: Set<string>;
  retryToken?: string | undefined;
  work?: { readonly id: string; readonly activeMs: number; readonly endsMs: number } | undefined;
  hasDrifted: boolean;
}

export interface HostsContext {
  readonly api: SimulatedApi;
  readonly random: Random;
  readonly nowMs: () => number;
  readonly version: (componentRef: string) => SimulatedVersion;
}

const LATE_MS = 60_000;
const HEARTBEAT_MS = 20_000;
const BEGIN = '2030-01-01T00:00:00.000Z';
const FAR = '2099-01-01T00:00:00.000Z';

export function createHost(name: string, uid: string, nowMs: number): SimulatedHost {
  return {
    name,
    uid,
    components: new Map(),
    silentUntilMs: 0,
    notReadyUntilMs: 0,
    isDown: false,
    heartbeatMs: 0,
    readyChangedMs: nowMs,
    isReady: true,
    boots: 1,
    pace: undefined,
  };
}

export function isSilentHost({ isDown, silentUntilMs }: SimulatedHost, nowMs: number): boolean {
  return isDown || nowMs < silentUntilMs;
}

export function componentOn(host: SimulatedHost, name: string): HostComponent {
  const found = host.components.get(name) ?? { committedMs: 0, denied: new Set(), hasDrifted: false };
  host.components.set(name, found);
  return found;
}

/** Returns what the host does with the entry, whatever its agent reports. Content that waits for a restart still runs. */
export function hostState(
  host: SimulatedHost,
  entry: MachineComponentEntry,
): 'Working' | 'Committed' | 'GaveUp' {
  const component = host.components.get(entry.name);
  if (!component) return 'Working';
  const id = entryDigest(entry);
  if (!component.work && isInForce({ ...component, hasDrifted: false }, id)) return 'Committed';
  const isTriedAgain = component.retryToken !== entry.assignment?.retryToken;
  return component.denied.has(id) && !isTriedAgain ? 'GaveUp' : 'Working';
}

function isInForce({ installed, hasDrifted }: HostComponent, id: string): boolean {
  return installed !== undefined && entryDigest(installed) === id && !hasDrifted;
}

export function stepHost(host: SimulatedHost, context: HostsContext): void {
  const { api, nowMs } = context;
  const machine = api.get(MACHINES, host.name);
  const isSilent = isSilentHost(host, nowMs());
  if (machine?.metadata.uid === host.uid && !isSilent) {
    const reports = machine.spec.components.map((entry) => work(host, { machine, entry }, context));
    report(host, machine, { components: reports, context });
  }
  stepNode(host, machine, context);
  const isDue = machine?.metadata.uid === host.uid && nowMs() - host.heartbeatMs >= HEARTBEAT_MS;
  if (!isSilent && isDue) beat(host, context);
}

interface Entry {
  readonly machine: Machine;
  readonly entry: MachineComponentEntry;
}

function work(host: SimulatedHost, { machine, entry }: Entry, context: HostsContext): MachineComponentReport {
  const component = componentOn(host, entry.name);
  const id = entryDigest(entry);
  const token = entry.assignment?.retryToken;
  if (component.retryToken !== token) component.denied.clear();
  component.retryToken = token;
  if (component.work && component.work.id !== id) component.work = undefined;
  if (isInForce(component, id)) return reportOf(entry, 'Committed', component);
  if (component.denied.has(id)) return reportOf(entry, 'RolledBack', component);
  if (component.work) return advance(host, component, entry, context);
  return begin({ machine, entry }, component, context);
}

function begin(
  { machine, entry }: Entry,
  component: HostComponent,
  { random, nowMs, version }: HostsContext,
): MachineComponentReport {
  if (!isPermitted(entry, nowMs()) || machine.spec.hold) return waiting(entry, component);
  if (version(entry.componentRef).needsDrain && !isDrainedFor(machine, entry)) {
    const wait = { reason: DRAIN_PENDING, since: BEGIN, message: 'waits until the machine is drained' };
    return { ...reportOf(entry, 'WaitingForDrain', component), waiting: wait };
  }
  const activeMs = nowMs() + 5000 + random.below(60_000);
  component.work = { id: entryDigest(entry), activeMs, endsMs: activeMs + 5000 + random.below(60_000) };
  return reportOf(entry, 'Activating', component);
}

function isPermitted(entry: MachineComponentEntry, nowMs: number): boolean {
  const { grant } = entry;
  return grant?.entryDigest === entryDigest(entry) && Date.parse(grant.notAfter) > nowMs;
}

function isDrainedFor({ status }: Machine, { grant }: MachineComponentEntry): boolean {
  return status?.drain?.state === 'Drained' && status.drain.grant === grant?.id;
}

function waiting(entry: MachineComponentEntry, component: HostComponent): MachineComponentReport {
  const wait = { reason: 'GrantNeeded', since: BEGIN, message: 'staged: waits for a grant' };
  return { ...reportOf(entry, 'WaitingForGrant', component), waiting: wait };
}

function advance(
  host: SimulatedHost,
  component: HostComponent,
  entry: MachineComponentEntry,
  { nowMs, version }: HostsContext,
): MachineComponentReport {
  const { work: present } = component;
  const behavior = version(entry.componentRef).behaviorOn(host.name);
  if (present && nowMs() < present.activeMs) return reportOf(entry, 'Activating', component);
  if (behavior === 'Hangs' || (present && nowMs() < present.endsMs)) {
    return reportOf(entry, 'Probation', component);
  }
  component.work = undefined;
  if (behavior === 'Fails') {
    component.denied.add(entryDigest(entry));
    return reportOf(entry, 'RolledBack', component);
  }
  Object.assign(component, { installed: entry, committedMs: nowMs(), hasDrifted: false });
  return reportOf(entry, 'Committed', component);
}

function reportOf(
  { name, componentRef }: MachineComponentEntry,
  state: NonNullable<MachineComponentReport['state']>,
  { installed }: HostComponent,
): MachineComponentReport {
  return {
    name,
    desiredRef: componentRef,
    ...(installed ? { currentRef: installed.componentRef, digest: installed.digest } : {}),
    state,
    running: true,
    ready: true,
    ...(state === 'RolledBack' ? { error: { message: 'its probe fails' } } : {}),
  };
}

interface Reporting {
  readonly components: readonly MachineComponentReport[];
  readonly context: HostsContext;
}

/** Reports as an agent does: an update that has just begun, and a generation that only took grants away, wait for a later report. */
function report(host: SimulatedHost, machine: Machine, { components, context }: Reporting): void {
  const { api, nowMs } = context;
  const { generation = 0 } = machine.metadata;
  const isReady = components.every(({ state }) => state === 'Committed');
  const before = new Map(machine.status?.conditions?.map((each) => [each.type, each]));
  const now = new Date(nowMs()).toISOString();
  const conditions = ['ComponentsReady', 'UpToDate'].map((type) => {
    const status = isReady ? ('True' as const) : ('False' as const);
    const known = before.get(type);
    const lastTransitionTime = known?.status === status ? known.lastTransitionTime : now;
    return {
      type,
      status,
      reason: 'AsWanted',
      message: '',
      observedGeneration: generation,
      lastTransitionTime,
    };
  });
  const agent = {
    observedGeneration: generation,
    entriesDigest: entriesDigest(machine.spec),
    certificateNotAfter: FAR,
  };
  const reported = new Map(machine.status?.components?.map((each) => [each.name, each]));
  const timed = components.map((each) => {
    const { state, since = now } = reported.get(each.name) ?? {};
    return { ...each, since: state === each.state ? since : now };
  });
  const status = { agent, components: timed, conditions };
  const pace = paceOf(host, nowMs);
  if (!pace.isDue(status, hasGrants(machine.spec))) return;
  const { apiVersion, kind, metadata } = machine;
  api.apply(
    { apiVersion, kind, metadata: { name: metadata.name }, status },
    { manager: 'agent', subresource: 'status', force: true },
  );
  pace.wrote(status);
}

function paceOf(host: SimulatedHost, nowMs: () => number): ReportPace {
  const { boots: boot } = host;
  if (host.pace?.boot !== boot) host.pace = { boot, reports: createReportPace({ monotonicMs: nowMs }) };
  return host.pace.reports;
}

function stepNode(host: SimulatedHost, machine: Machine | undefined, context: HostsContext): void {
  const { api, nowMs } = context;
  const isReady = !host.isDown && nowMs() >= host.notReadyUntilMs && !isBroken(host, context);
  const node = api.get(NODES, host.name);
  if (node ? isReady === host.isReady : !mayJoin(host, machine)) return;
  Object.assign(host, { isReady, readyChangedMs: nowMs() });
  api.put(nodeOf(host, node));
}

/** Reports at once that the host has booted: its kubelet answers between two steps of the run. */
export function reportBoot(host: SimulatedHost, { api, nowMs }: Pick<HostsContext, 'api' | 'nowMs'>): void {
  const node = api.get(NODES, host.name);
  if (!node) return;
  Object.assign(host, { isReady: true, readyChangedMs: nowMs() });
  api.put(nodeOf(host, node));
}

/** Tells whether the Node may join: that of a Machine that is deleted does not return. */
function mayJoin({ uid }: SimulatedHost, machine: Machine | undefined): boolean {
  return machine?.metadata.uid === uid && machine.metadata.deletionTimestamp === undefined;
}

function isBroken({ name, components }: SimulatedHost, { nowMs, version }: HostsContext): boolean {
  return [...components.values()].some(
    ({ installed, committedMs }) =>
      installed !== undefined &&
      version(installed.componentRef).behaviorOn(name) === 'Late' &&
      nowMs() - committedMs > LATE_MS,
  );
}

export function bootIdOfHost({ uid, boots }: Pick<SimulatedHost, 'uid' | 'boots'>): string {
  return `boot-${uid}-${boots}`;
}

/** Returns the Node as the kubelet reports it. The kubelet of a host that is not Ready reports no boot. */
function nodeOf(host: SimulatedHost, before: KubeObject | undefined): KubeObject {
  const { name, isReady, readyChangedMs } = host;
  const lastTransitionTime = new Date(readyChangedMs).toISOString();
  const condition = { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime };
  const others = listAt(before, 'status', 'conditions').filter((each) => textAt(each, 'type') !== 'Ready');
  const taints = [{ key: TAINT_NOT_INITIALIZED, effect: 'NoSchedule' }];
  const found = before ?? { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: { taints } };
  const bootID = isReady ? bootIdOfHost(host) : textAt(before, 'status', 'nodeInfo', 'bootID');
  const nodeInfo = optional('bootID', bootID);
  return { ...found, status: { conditions: [condition, ...others], nodeInfo } };
}

function beat(host: SimulatedHost, { api, nowMs }: HostsContext): void {
  host.heartbeatMs = nowMs();
  const owner = { apiVersion: API_VERSION, kind: MACHINES.kind, name: host.name, uid: host.uid };
  const key = { name: host.name, namespace: NAMESPACE_AGENTS };
  const found = api.get(LEASES, key);
  const metadata = { ...(found?.metadata ?? key), ownerReferences: [owner] };
  api.put({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata,
    spec: { renewTime: new Date(nowMs()).toISOString() },
  });
}
